"""What PyTorch keeps in ``torch._export.serde.serialize``."""

from taeda.export.files.artifact import ExportedProgramDeserializer as ExportedProgramDeserializer
from taeda.export.files.artifact import ExportedProgramSerializer as ExportedProgramSerializer
from taeda.export.files.artifact import SerializedArtifact as SerializedArtifact
from taeda.export.files.artifact import SerializeError as SerializeError
from taeda.export.files.artifact import deserialize as deserialize
from taeda.export.files.artifact import serialize as serialize
