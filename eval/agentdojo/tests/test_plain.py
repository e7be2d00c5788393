"""Values as JSON."""

import datetime
import enum
import unittest

import paths  # noqa: F401

from plain import plain


class Status(enum.Enum):
    OPEN = "open"


class Model:
    def model_dump(self, mode):
        return {"mode": mode, "status": Status.OPEN}


class Plain(unittest.TestCase):
    def test_values(self):
        day = datetime.date(2024, 5, 15)
        for value, want in (
            (None, None),
            (True, True),
            (1.5, 1.5),
            ("é", "é"),
            (Status.OPEN, "open"),
            (Model(), {"mode": "json", "status": "open"}),
            ((1, [Model()]), [1, [{"mode": "json", "status": "open"}]]),
            ({1: day, Status.OPEN: {"b", "a"}}, {"1": "2024-05-15", "open": ["a", "b"]}),
            (datetime.datetime(2024, 5, 15, 9), "2024-05-15T09:00:00"),
        ):
            self.assertEqual(plain(value), want)

    def test_what_is_no_json(self):
        for value in (object(), b"x", [lambda: 0]):
            with self.assertRaises(TypeError):
                plain(value)


if __name__ == "__main__":
    unittest.main()
