"""Makes semopy.json: factor models as semopy 2.3.11 itself fits them, by its own model texts.

Run it in this folder: python gold_semopy.py
"""

import json
from pathlib import Path

import pandas as pd
import semopy

HERE = Path(__file__).parent
ABILITIES = "visual =~ x1 + x2 + x3\ntextual =~ x4 + x5 + x6\nspeed =~ x7 + x8 + x9"
LIKERT = [" + ".join(f"i{k}" for k in part) for part in (range(1, 12), range(12, 22))]
MODELS = {
    "three": ("hs1939", ABILITIES),
    "second_order": ("hs1939", f"{ABILITIES}\ng =~ visual + textual + speed"),
    "one": ("hs1939", "g =~ x1 + x2 + x3 + x4 + x5 + x6 + x7 + x8 + x9"),
    "two": ("likert22", f"F1 =~ {LIKERT[0]}\nF2 =~ {LIKERT[1]}"),
    "negative_variance": ("heywood6", "f =~ y1 + y2 + y3\ng =~ y4 + y5 + y6"),
    "equal_residuals": ("hs1939", f"{ABILITIES}\nx1 ~~ e*x1\nx2 ~~ e*x2\nx3 ~~ 0.8*x3"),
}

found = {"semopy": semopy.__version__}
for name, (data, text) in MODELS.items():
    rows = pd.read_csv(HERE / f"{data}.csv").iloc[:, :21].dropna()
    model = semopy.Model(text)
    result = model.fit(rows, options={"ftol": 1e-14})
    found[name] = {
        "data": data,
        "n": len(rows),
        "success": bool(result.success),
        "fit": {key: float(value) for key, value in semopy.calc_stats(model).iloc[0].items()},
        "estimates": [
            [row["lval"], row["op"], row["rval"], float(row["Estimate"]), float(row["Est. Std"])]
            for row in model.inspect(std_est=True).to_dict("records")
        ],
    }
(HERE / "semopy.json").write_text(json.dumps(found, indent=1) + "\n")
