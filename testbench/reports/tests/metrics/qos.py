"""Metrics of a recorded run, computed apart from the Rust code: the test compares both.

Reads a CSV file with the columns of `hermes run --verdicts` and `length` (bytes on the wire without
FCS), and prints steady state and delays as JSON. Needs Python alone.

    python3 qos.py RUN.csv
"""

import csv
import json
import sys
from fractions import Fraction
from itertools import groupby
from math import ceil, floor, sqrt
from statistics import fmean


def percentile(values, share):
    """Nearest rank: the smallest value that is not below `share` of all of them."""
    ranked = sorted(values)
    return ranked[max(ceil(share * len(ranked)), 1) - 1]


def quarters(values):
    return percentile(values, Fraction(3, 4)) - percentile(values, Fraction(1, 4))


def interval_of_p99(values):
    """Values between which the 99th percentile lies with 95 % confidence: normal ranks."""
    ranked, count = sorted(values), len(values)
    away = 1.96 * sqrt(count * 0.99 * 0.01)
    low, high = floor(0.99 * count - away), ceil(0.99 * count + away)
    if count < 1000 or high >= count:
        return None
    return [ranked[max(low, 1) - 1], ranked[high - 1]]


def distribution(values):
    values = list(values)
    if not values:
        return None
    many = len(values) >= 10_000
    top = percentile(values, Fraction(999, 1000)) if many else None
    return {
        "mean": fmean(values),
        "min": min(values),
        "p50": percentile(values, Fraction(1, 2)),
        "p95": percentile(values, Fraction(95, 100)),
        "p99": percentile(values, Fraction(99, 100)),
        "p99_interval": interval_of_p99(values),
        "p999": top,
        "max": max(values),
        "iqr": quarters(values),
        "jitter": top - min(values) if many else None,
    }


def delays(packets):
    def between(first, last):
        return distribution(p[last] - p[first] for p in packets if None not in (p[first], p[last]))

    warps = [list(warp) for _, warp in groupby(packets, lambda p: p["start"])]
    return {
        "delays_count_from_schedule": True,
        "delay": between("arrival", "commit"),
        "queuing": between("arrival", "start"),
        "service": between("start", "commit"),
        "delay_iqr_of_warps": quarters([fmean(p["commit"] - p["arrival"] for p in warp) for warp in warps]),
        "stages": {
            "ring": between("arrival", "inSlot"),
            "forming_and_issue": between("inSlot", "start"),
            "forming": between("inSlot", "formed"),
            "issue": between("formed", "start"),
            "execution": between("start", "finish"),
            "dcq": between("finish", "commit"),
            "egress": between("commit", "sent"),
        },
        "latency": between("arrival", "sent"),
    }


def steady_state(packets):
    count = len(packets)
    finishes = sorted(p["finish"] for p in packets)
    begin, end = finishes[count // 4 - 1], finishes[count - count // 16 - 1]
    inside = [p for p in packets if begin < p["finish"] <= end]
    size = sum(p["length"] for p in inside)
    return {
        "packets": len(inside),
        "frame_bytes": size,
        "from": begin,
        "to": end,
        "packets_per_cycle": len(inside) / (end - begin),
        "bits_per_cycle": 8 * size / (end - begin),
        **delays(inside),
    }


def main():
    with open(sys.argv[1], newline="") as file:
        rows = [{k: int(v, 0) if v else None for k, v in row.items()} for row in csv.DictReader(file)]
    json.dump({"whole": delays(rows), "steady_state": steady_state(rows)}, sys.stdout, indent=1)
    print()


main()
