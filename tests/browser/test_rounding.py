"""Numbers in tooltips, as a browser writes them, are those of every table."""

import math

import altair as alt

from core.charts.panels import with_number_texts
from core.domain.numbers import number_text, percent_text

# What Vega's expressions know under these names, on plain numbers.
_WRITTEN = """
([text, values]) => {
    const {abs, floor} = Math
    const [toNumber, toString] = [Number, String]
    const isValid = x => x != null && x === x
    const format = (x, how) => x.toFixed(Number(how[1]))
    const write = new Function("datum", "abs", "floor", "toNumber", "toString", "isValid",
        "format", "return " + text)
    return values.map(value =>
        write({value}, abs, floor, toNumber, toString, isValid, format))
}
"""
VALUES = (3.125, -3.125, 1.005, 2.675, -0.001, 1e-30, 1e-7, 3.1249999, 1234567.885, 0.0005, 7)


def written(page, values, **options):
    chart = with_number_texts(alt.Chart(), "value", **options)
    return page.evaluate(_WRITTEN, [chart.transform[0].calculate, list(values)])


def test_numbers_in_tooltips_are_rounded_as_in_tables(page):
    for decimals in (2, 3):
        expected = [number_text(value, decimals).replace("-", "−") for value in VALUES]
        assert written(page, VALUES, decimals=decimals) == expected
    shares = (0.125, 0.0105, 0.2855, 1, 0.0005)
    found = written(page, shares, decimals=1, percent=True)
    assert found == [percent_text(share, 1) for share in shares]
    assert written(page, [None]) == ["—"]
    assert math.isclose(float(written(page, [1e300])[0]), 1e300)
