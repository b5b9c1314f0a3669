"""The bus contract: messages, topic names, keys, partitions, codecs."""
