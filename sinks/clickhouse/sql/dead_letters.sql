-- Records that could not be processed, with the beginning of their bytes.
SELECT id, at, agent, topic, partition, offset, cause, detail, length(value) AS size,
    toValidUTF8(substring(ifNull(value, ''), 1, 240)) AS preview
FROM dead_letters FINAL
