"""Japanese and Chinese words by what they do in a reply; the text is cut into pieces at them."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PREFERENCES = _words("选择 选 我选 会选 会选择 选了 更喜欢 偏好 更倾向于 推荐 更看好 選択 選好")
CUES = PREFERENCES | _words(
    "我选择 答案 答案是 回答 回答是 我的答案是 我的回答是 我的选择是 选择是 评分 打分 给 给出 "
    "选项 联想到 "
    "答え 答えは 私の答えは 回答は 私の回答は 選択肢 評価 評価は 選ぶなら 連想"
)
FILLERS = _words(
    "我 我会 会 的 我的 我认为 认为 我觉得 觉得 是 这 这个 这是 对 对于 该 此 那 就 就是 应该 "
    "应该是 "
    "说法 观点 政策 主张 看法 陈述 描述 措施 法案 词 单词 词语 这个词 让我 总体来说 "
    "总的来说 来说 有 全体としては 全体的には 因为 一 于 总体 确实 真的 更 相信 想 这项 这一 "
    "上述 它 把 与 跟 为 非常 完全 很 "
    "私 私は 僕は この その 意見 主張 文 文章 考え 政策 記述 発言 項目 言葉 単語 に は を が と "
    "の も "
    "には では で もちろん それ これ これは それは より やはり"
)
BARE = _words(
    "评分 評価 我 我的 答案 答案是 回答 选项 选择 的 私は 私 答え 回答 選択肢 です ます だ "
    "でした 分 点 选 我选 我选择 を選びます を選択します を選ぶ"
)
CONTRASTS = _words(
    "但 但是 而是 不过 可是 所以 因此 しかし でも ですが けれど だが ので ため だから したがって"
)
OTHERS = _words(
    "支持者 反对者 批评者 賛成派 反対派 批判者 支持派 赞成者 人 很多人 有人 有些人 人们 大家 "
    "多くの人 人々 他の人"
)
HEDGES = _words("可能 也许 或许 大概 可能是 たぶん おそらく もしかすると もしかしたら 多分")
OVERALL = _words(
    "总体 总体来说 总体上 总体而言 总的来说 总的来看 整体上 整体而言 全体としては 全体的には "
    "全体的に 総合的には 総じて 概して"
)
ALSO = _words("也 同时 同样 でも も")
PARTIAL = _words("部分 一部 一部は 一部には 部分的に")
NEGATIONS = _words(
    "不 不是 并不 并非 没有 没 不太 不会 不能 从不 绝不 并不是 无 非 也不 既不 未必 不完全 不怎么"
)
WEAK_DENIALS = _words(
    "わけではない わけではありません するわけではない するわけではありません とは言えない "
    "とはいえない "
    "とは言えません とはいえません とも言えません とも言えない ともいえません ともいえない "
    "とは限らない "
    "とは限りません"
)
LATE_NEGATIONS = WEAK_DENIALS | _words(
    "ではない ではありません じゃない じゃありません しない しません できない "
    "できません しかねます とは思わない とは思いません ではないです "
    "ではないと思います は思わない 選びません を選びません を選ばない"
)
DOUBTS = _words("必ずしも 不一定 未必 是否 不确定")
CONDITIONS = _words("如果 要是 假如 もし")
PARTICLES = _words("の に は が と も を 的 也 是")
BOTH = _words("両方 どちらも 两者 都 两者都")
NEITHER = _words("既不 既非 でもない でもありません もしない もしません でもないです")
COMPARED = _words("比 比起 相比 相较于 与其")
COMPARED_LATER = _words("より よりも よりは に比べて")
BETTER = _words(
    "更好 更 最好 更优 更强 更胜一筹 更可靠 の方が のほうが 方が ほうが の方が好き の方が良い"
)
DEGREES = _words(
    "完全 非常 很 比较 有些 有点 略微 基本 基本上 部分 大部分 一定程度上 稍微 不太 不完全 不怎么 "
    "十分 强烈 坚决 坚定 断固 "
    "やや 少し かなり とても 強く 完全に ある程度 どちらかといえば どちらかと言えば 大体 おおむね "
    "一部 一部は 非常に 全面的に"
)
FOLLOWERS = _words(
    "的 因为 因 并 而且 但 但是 分 点 这 该 此 这个 这一 这项 这种 上述 吧 哦 了 我 "
    "です ます だ と が ので から だと と思います と思う だと思います だと思う と考えます "
    "と感じます "
    "だと考えます でした よ ね を なので だから を連想させます"
)
JOINERS = _words("或 或者 和 与 跟 还是 及 か と または も や あるいは")
RANGES = _words("到 至 から と 和")
LATE_CUES = _words(
    "を選びます を選択します を選ぶ を選択 と答えます にします を選びたいです "
    "の方が好きです のほうが好きです の方が良いと思います のほうが良いと思います の方が良い "
    "のほうがいい の方がいい の方が好き のほうが好き が好きです を好みます だと思います "
    "更好 更可靠 更优秀 的产品更好 分"
)
REASONS = _words("因为 理由 原因 なぜなら 理由は 解释 説明")
_COMPOUNDS = _words(
    # Compounds that hold a label or a negation and must not be cut through.
    "是否 是因为 还是 总是 都是 但是 可是 于是 要是 不仅 不过 不同 不同意见 意见 不错 不少 "
    "支持者 反对者 反对意见 你好 很好 好的 最好 爱好 好处 好像 好吃 好看 坏处 破坏 否则 否认 "
    "有利于 不利于 无益 是不是 同意书 也不是 也是 不论 不管 不一定 不如 人 多くの 思います 思う "
    "ほど 虽然 尽管 確かに たしかに 有时 例外 けれども ものの 能否 可否 段階 点満点 分制 "
    "同意見 反対意見 支持者 喜劇的 悲劇的 はいけない はいつも よりも ということ"
)
KNOWN = frozenset().union(
    PARTIAL, WEAK_DENIALS, DOUBTS, CONDITIONS, PARTICLES, CUES, FILLERS, BARE, CONTRASTS,
    HEDGES, NEGATIONS, LATE_NEGATIONS, NEITHER, COMPARED, COMPARED_LATER, BETTER, DEGREES,
    FOLLOWERS, JOINERS, RANGES, LATE_CUES, REASONS, _COMPOUNDS, OTHERS, OVERALL,
)  # fmt: skip
"""Every word that text without spaces is cut at, besides labels and set phrases."""
