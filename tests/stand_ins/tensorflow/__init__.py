"""Stands in for TensorFlow: the functions that the import hook calls."""


class _Threading:
    counts = {"intra": 0, "inter": 0}
    asked = 0

    def set_intra_op_parallelism_threads(self, count):
        self.counts["intra"] = count

    def get_intra_op_parallelism_threads(self):
        self.asked += 1
        return self.counts["intra"]

    def set_inter_op_parallelism_threads(self, count):
        self.counts["inter"] = count

    def get_inter_op_parallelism_threads(self):
        self.asked += 1
        return self.counts["inter"]


class _Config:
    threading = _Threading()


config = _Config()
