import pickle
import threading

from oleander.black_box.tally import Tally


def test_threads_add_to_one_count():
    tally = Tally()
    threads = [threading.Thread(target=lambda: [tally.add() for _ in range(2000)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert tally.value == 8000


def test_a_copy_counts_on_its_own():
    tally = Tally()
    tally.add(3)
    copy = pickle.loads(pickle.dumps(tally))
    copy.add(4)
    assert (tally.value, copy.value) == (3, 7)
