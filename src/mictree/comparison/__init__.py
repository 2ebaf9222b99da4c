"""Any learner beside the optimal trees."""
