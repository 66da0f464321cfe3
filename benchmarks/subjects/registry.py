"""The subjects by name: those of docs/evidence/benchmarks.md first, in the order of the page."""

from benchmarks.subjects.anchors import AnchorSearch
from benchmarks.subjects.base import Subject
from benchmarks.subjects.certificates import Certificates
from benchmarks.subjects.compare import Compare
from benchmarks.subjects.differences import Differences
from benchmarks.subjects.edits import Edits
from benchmarks.subjects.field import Field
from benchmarks.subjects.group_floors import GroupFloors
from benchmarks.subjects.growth import Growth
from benchmarks.subjects.large_programs import LargePrograms
from benchmarks.subjects.lazy import Lazy
from benchmarks.subjects.least_time import LeastTime
from benchmarks.subjects.number_laws import NumberLaws
from benchmarks.subjects.numbers import Numbers
from benchmarks.subjects.one_explanation import OneExplanation
from benchmarks.subjects.quality import Quality
from benchmarks.subjects.queries import Queries
from benchmarks.subjects.routing import Routing
from benchmarks.subjects.selection import Selection
from benchmarks.subjects.speed import Speed
from benchmarks.subjects.streaming import Streaming
from benchmarks.subjects.watching import Watching
from benchmarks.subjects.whole_explanation import WholeExplanation

SUBJECTS: dict[str, Subject] = {
    subject.name: subject
    for subject in (
        OneExplanation(),
        WholeExplanation(),
        Selection(),
        Growth(),
        LeastTime(),
        Speed(),
        Lazy(),
        AnchorSearch(),
        Quality(),
        Certificates(),
        Compare(),
        Field(),
        Numbers(),
        NumberLaws(),
        Streaming(),
        Watching(),
        Routing(),
        GroupFloors(),
        Edits(),
        Differences(),
        Queries(),
        LargePrograms(),
    )
}
