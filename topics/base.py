"""The base of every message on the bus: frozen, strict about unknown keys, one JSON object a record."""

from typing import ClassVar, Self

from pydantic import BaseModel, ConfigDict


class Message(BaseModel):
    """A frozen record on the bus; times are integer milliseconds UTC unless a field's name says `_s`."""

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="constants")

    def encode(self) -> bytes:
        """Return the UTF-8 JSON text of the message."""
        return self.__pydantic_serializer__.to_json(self)

    @classmethod
    def decode(cls, raw: bytes) -> Self:
        """Parse the UTF-8 JSON text of a message; raises `pydantic.ValidationError`."""
        return cls.model_validate_json(raw)
