"""The checks of exported programs."""

from taeda.export._verifier import SpecViolationError as SpecViolationError
from taeda.export._verifier import TrainingIRVerifier as TrainingIRVerifier
from taeda.export._verifier import Verifier as Verifier
