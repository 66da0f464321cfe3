"""The subjects, in the order in which the page tells them."""

from subjects.base import Subject
from subjects.floor import Floor
from subjects.growth import Growth
from subjects.one_explanation import OneExplanation
from subjects.programs import Programs
from subjects.whole_explanation import WholeExplanation

SUBJECTS: dict[str, Subject] = {
    subject.name: subject for subject in (OneExplanation(), WholeExplanation(), Programs(), Growth(), Floor())
}
