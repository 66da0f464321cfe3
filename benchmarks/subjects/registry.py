"""The subjects by name."""

from benchmarks.subjects.base import Subject
from benchmarks.subjects.certificates import Certificates
from benchmarks.subjects.differences import Differences
from benchmarks.subjects.edits import Edits
from benchmarks.subjects.field import Field
from benchmarks.subjects.group_floors import GroupFloors
from benchmarks.subjects.large_programs import LargePrograms
from benchmarks.subjects.number_laws import NumberLaws
from benchmarks.subjects.numbers import Numbers
from benchmarks.subjects.one_explanation import OneExplanation
from benchmarks.subjects.quality import Quality
from benchmarks.subjects.routing import Routing
from benchmarks.subjects.selection import Selection
from benchmarks.subjects.speed import Speed
from benchmarks.subjects.streaming import Streaming
from benchmarks.subjects.watching import Watching

SUBJECTS: dict[str, Subject] = {
    subject.name: subject
    for subject in (
        OneExplanation(),
        Selection(),
        Speed(),
        Quality(),
        Certificates(),
        Field(),
        Numbers(),
        NumberLaws(),
        Streaming(),
        Watching(),
        Routing(),
        GroupFloors(),
        Edits(),
        Differences(),
        LargePrograms(),
    )
}
