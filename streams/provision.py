"""Creates every topic and changelog explicitly before a worker starts: Faust ignores topics that come later."""

from collections.abc import Iterable

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import TopicAlreadyExistsError, for_code

from streams.app import Bus
from streams.delivery.publisher import MAX_REQUEST_BYTES
from streams.delivery.reducer import AgentSpec
from topics.registry import TOPICS


async def create_topics(
    bus: Bus, specs: Iterable[AgentSpec], *, replication: int = 1, stepped: bool = False
) -> tuple[str, ...]:
    """Create what is missing and return the names created; raises `KafkaError` for a refusal by the broker.

    Live topics are stamped by the broker (`LogAppendTime`). A stepped run stamps its records itself, with times of the
    past, which time-based retention would delete within minutes: there it is off.
    """
    stamp = "CreateTime" if stepped else "LogAppendTime"
    wanted = [
        NewTopic(
            bus.topic_name(topic),
            topic.partitions(bus.partitions),
            replication,
            topic_configs={
                "cleanup.policy": topic.cleanup,
                "retention.ms": str(-1 if stepped else topic.retention_ms),
                "message.timestamp.type": stamp,
                "compression.type": topic.compression,
                **({} if topic.max_message_bytes is None else {"max.message.bytes": str(topic.max_message_bytes)}),
            },
        )
        for topic in TOPICS
    ]
    wanted += [
        NewTopic(
            bus.changelog_name(spec.name),
            spec.partitions(bus.partitions),
            replication,
            topic_configs={"cleanup.policy": "compact", "max.message.bytes": str(MAX_REQUEST_BYTES)},
        )
        for spec in specs
        if spec.keeps_state
    ]
    admin = AIOKafkaAdminClient(bootstrap_servers=bus.bootstrap)
    try:
        await admin.start()
        existing = set(await admin.list_topics())
        missing = [topic for topic in wanted if topic.name not in existing]
        response = await admin.create_topics(missing)
        for name, code, *detail in response.topic_errors:
            error = for_code(code)
            if code and error is not TopicAlreadyExistsError:
                raise error(f"topic {name}: {detail[0] if detail and detail[0] else 'refused by the broker'}")
        return tuple(topic.name for topic in missing)
    finally:
        await admin.close()
