"""How do chat models answer in an experiment? Paced, retried, kept on disk, and with an estimate of the cost first."""
