"""Writes the banks words_en_5000.csv and words_zh_5000.csv: frequent nouns and verbs with ranks.

Nobody needs this to use Inkblot; it is here so that the lists can be checked, changed and made
again. It runs apart from Inkblot's own packages, and the same packages give the same files:

    python3 -m venv words
    words/bin/pip install wordfreq==3.1.1 jieba==0.42.1 lemminflect==0.2.3
    words/bin/pip install --no-deps textblob==0.20.1
    words/bin/python data/make_word_lists.py [folder]

What it does
    1. Goes through wordfreq's list of all words of the language, most frequent first. The rank of
       a word is its place there, function words and names included. wordfreq rounds frequencies to
       hundredths of a power of ten and sorts equal ones by letter.
    2. Keeps base forms that a lexicon has as noun or verb: one genre a word, its commonest.
    3. Drops the words listed below, which the lexicons get wrong or which are unfit as stimuli:
       chiefly names, function words, coarse words and slurs, second spellings. They were drawn
       up in one reading of all words down to the last one kept; no second reader has checked them.
    4. Stops at 5,000 words.
"""

from __future__ import annotations

import csv
import gzip
import importlib.util
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from wordfreq import iter_wordlist

SIZE = 5000
SOURCES = (
    (
        "wordfreq 3.1.1",
        "frequencies, both languages",
        "code Apache-2.0, data CC-BY-SA-4.0; credits SUBTLEX, OpenSubtitles, Wikipedia, "
        "Google Books Ngrams, the Leeds Internet Corpus and ParaCrawl",
    ),
    (
        "textblob 0.20.1",
        "English genre: en-lexicon.txt, Brill's lexicon",
        "MIT; its words from Twitter CC-BY-3.0 (Gimpel et al., 2011)",
    ),
    (
        "lemminflect 0.2.3",
        "English base forms: lemma_lu.csv.gz, after the SPECIALIST lexicon",
        "MIT; SPECIALIST courtesy of the U.S. National Library of Medicine",
    ),
    ("jieba 0.42.1", "Chinese genre: dict.txt", "MIT"),
)
"""Package, what is taken from it, licence."""

COMMON_CITATION = (
    "Frequencies: wordfreq (Speer, 2022, doi:10.5281/zenodo.7199437), which draws on the freely "
    "available SUBTLEX lists ("
)
TAIL = "), on OpenSubtitles, Wikipedia, Google Books Ngrams (books.google.com/ngrams) and others. "
RANK_NOTE = (
    " The rank is the place among all words of the language, names and function words included, so "
    "ranks have gaps. Names, function words, coarse words and slurs were removed in one reading; "
    "some may remain, as no second reader has checked the list. Made by data/make_word_lists.py; "
    "not normed on people."
)
COLUMNS = (
    "record", "code", "format", "position", "subscale", "keyed", "points", "stance", "value",
    "genre", "rank",
)  # fmt: skip
"""The columns before the texts, in the order in which Inkblot exports them."""
LABELS = {
    "comedy_tragedy": (("comedy", "Comedy", "喜剧"), ("tragedy", "Tragedy", "悲剧")),
    "good_bad": (("good", "Good", "好"), ("bad", "Bad", "坏")),
    "enjoyable_unpleasant": (
        ("enjoyable", "Enjoyable", "愉快"),
        ("unpleasant", "Unpleasant", "不愉快"),
    ),
}
"""Per format: code, English and Chinese label; the first option is for, the second against."""


def words_in(*texts: str) -> frozenset[str]:
    """The words between the spaces."""
    return frozenset(" ".join(texts).split())


ENGLISH_TAGS = {"NN": "noun", "NNS": "noun", "VB": "verb", "VBP": "verb"}
ENGLISH_DROPPED = words_in(
    # Mostly met as names of people, places, months, brands or institutions.
    """
    basil bobby capitol champagne china chuck cologne colt commons cork curry dell derby derrick doe
    don fanny gale glen guinea hamlet harry heather holocaust jack jasmine java jay jersey ken lance
    lynch march mason medicare messiah pentagon peter providence renaissance rue sally scotch stein
    tang telegraph terry thanksgiving tinder trump turkey twitch victor
    """,
    # Pronouns, numbers, plurals, clippings and misspellings.
    """
    billions boo cant mar millions mister nobody nothing sac sup things
    upstairs woo yea
    """,
    # Coarse words and slurs.
    """
    ass bastard bitch bum butt cock crap gypsy hooker piss pussy shit whore
    """,
    # The rarer of two spellings of one word.
    """
    adviser axe behaviour catalog centre endeavour favour honour humour judgement labour metre mould
    neighbourhood theatre traveller
    """,
)

CHINESE_TAGS = {"n": "noun", "v": "verb", "vn": "verb"}
CHINESE_DROPPED = words_in(
    # Names, and words for one people or language.
    """
    百度 刚果 拿破仑 合肥 大理 烟台 网易 路透社 人民网 比利 波音 大卫 光绪 文革 圣经 奔驰 查理 日军
    日文 法国人 欧洲人 汉人 华人 汉奸 基督 马克思主义
    """,
    # Adverbs, adjectives, pronouns and pieces of phrases that are tagged as nouns.
    """
    无法 基本 实际 大量 全面 依法 原本 有点 起码 时时 统统 人人 大家 有所 有限公司 我会 无人 无权
    有权 人为 有机 有力 无力 日益 一带 一体 另类 个别 大力 全力 强力 力求 有益 无线 老实 无辜 无情
    廉价 盲目 大胆 性感 精彩 优质 资深 感兴趣 恶心 漫长 热门 热心 高端 顶级 顶尖 密集 业余 陌生 迷人
    感人 诱人 心想 总算 篇文章 首歌 急需 亲身 着力 精心 用心 私下 合格 特地 浑身 片面 极力 致力
    致力于 一流 先行 现存 现行 现任 历任 新任 自带 隶属于 看吧 本站 点儿 消极 冷漠 高尚 线性 又称
    又名 全都 两者 二者 前者 后者 众人 常规 旗下 床上 店里 剧中 机上 线下 时会 无缘 不公 不容 不合理
    乐意 专用 专属 自豪 敌对 双向 双重 终极 实地 定性 手动 直属 人造 民用 军用 家用 国营 外籍 特种
    用力 双边 人称 干嘛 主观 客观 宏观 一连串 问问 一事 共产 晚安 早安 伤心 过分 过度 面向 公平 合法
    极端 典型 热情 实名制 竞技 所有人 全部 双方 对方 所在地 身分 部份 份子 帐号 帐户 独家 跨国 深层
    有关
    """,
    # The same among those tagged as verbs.
    """
    可能 应该 还有 能够 是否 起来 出来 例如 有没有 才能 好像 直到 比如 像是 实在 相关 只能 就算 说完
    相比 有着 看来 坐在 放在 留在 为主 为止 在乎 足够 毫无 可见 可惜 可怜 可爱 奇怪 深入 相似 相反
    类似 知名 流行 适合 好看 满意 兴奋 愤怒 熟悉 原始 突出 看起来 想着 看着 活着 穿着 跟着 指着
    忍不住 无关 据说 截至 自主 可靠 可用 正如 能否 请问 就让 直至 足以 无比 用来 用以 有用 有钱 有毒
    应有 所得 所知 算了 回事 致使 要死 该死 亦可 可谓 可信 可行 可笑 可恶 可疑 好吃 好玩 好笑 难过
    难受 难看 好听 了不起 绝望 坚强 透明 无限 致命 例外 犹如 譬如 彷佛 据悉 尚无 尚有 为名 设有 共有
    共计 再有 已有 已知 已成 已婚 原有 有意 有望 有待 有如 有罪 无需 无意 无知 无能 无名 无偿 无用
    无敌 无罪 有无 但愿 刻意 反倒 向来 历来 勉强 反复 任意 出色 新增 新高 必需 必备 妥善 优先 自动
    免费 合理 定期 违法 合计 生动 活跃 反动 临床 连锁 连环 流动 是从 在外 身为 名为 名叫 便是 算是
    叫做 想要 开来 得来 来讲 说来 想来 看似 为首 作为 位居 始建 镇上 通用 横向 过剩 动荡 激进 低调
    低下 专注 公立 列为 来自 源自 取自 自有 自制 匿名 并用 并列 垂直 相等 相爱 拥挤 破碎 盛行 利害
    号称 俗称 相应 占地 隶属 下列 骚货 附加 复合 注定 看不到 上空 自发 在职 得不到 来不及 离不开
    看作 看成 在场 迎来 转为 事发
    """,
    # Coarse words, and words that come from pornography.
    """
    鸡巴 婊子 奶子 幼女 精液 性爱 自慰
    """,
)
CHINESE_PIECE = re.compile(r"[不未被].*|没(?!收).*|([^妈爸爷奶姐妹哥弟叔婆姑星宝太狗])\1|.+于")
"""Among words tagged as verbs: negations, passives, doubled verbs, verbs with a preposition."""

CHINESE_CHARACTERS = {
    "noun": "人事钱国话党市省网马路军书心水线门字狗信城神权镇乡头奖脸妈梦卡山光官街词风枪画病海脚"
    "岛龙牛店球楼象肉鱼情歌船鬼猪血酒命票草猫课腿药题诗铁饭鸡嘴墙树火剑哥戏茶菜刀桥税剧币"
    "床烟货魔油牌坑纸蛋雨狼田皮笔兵洞眼角屋虎队图",
    "verb": "说来去看做想爱请听带走吃开问站写打死见买叫找玩拿杀住学送变搞跑靠加拉拍笑办抓谈卖帮算"
    "求逼教懂读改活离传坐赢救睡怕查贴挂骗装收推追飞交哭敢跳忘赚弄抢留骂猜输抱试戴停犯伤唱"
    "造养借搭修吹压拜洗逃摆吻搬毁盖争背躺饿举恨摸排拖断赶脱谢撞滚碰退骑偷喊念抽翻塞插落付"
    "认望瞧爬签防烧踢划咬练补躲切炸剩存扎",
}
"""Single characters that stand alone as words; all others are mostly parts of words."""

# Words whose genre the dictionary has wrong.
CHINESE_NOUNS = words_in(
    """
    知识 警察 位置 需求 说法 想法 看法 做法 行为 作用 选手 对手 收入 简称 简介 简历 生意 邻居 愿望
    欲望 创意 死刑 同性恋 超市 通道 杀手 手续 使命 缺陷 处长 会计 侦探 考生 见解 高考 大选 举措 偏见
    玩笑 派对 雇主 诊所 举动 举止 是非 产能 执照 插图 跑道 嫌疑 帮派 日出 往事 构造 构想 坐标 接口
    开关 支出 上限 出路 下落 截图 摘要 心跳 睡眠 巧合 下属 恶意 生死 好评 实战 过错 空袭 冷战 叛乱
    起义 实录 诉求 疑问 疑虑 觉悟 分行 来信 禁忌 顾虑 辐射 决心 对比 设备 生命 经费 教练 服装 遗产
    影像 联赛 助理 变量 影展 生计 劳工 活动 生活 革命 贸易 旅游 体育 运动 教育 娱乐 竞赛 比赛 广播
    诉讼 劳务 考古 生理 进出口 裁判
    """,
)
CHINESE_VERBS = words_in(
    """
    产生 利用 证明 联系 关心 毕业 回家 评价 消失 投票 编辑 纪念 代理 警告 想象 浪费 杀人 企图 整理
    证实 生长 部署 收费 冒险 替代 命名 动手 任命 声称 协商 参观 危害 行使 通报 见面 会见 读书 上学
    办事 殖民 生效 战胜 办公 宣告 报警 罚款 区分 假装 唱歌 储存 入境 开口 办学 排队 登场 上线 消耗
    参赛 约会 交友 花钱 走路 生气 创业 失业 购物 动员 装饰 示威 委托 体会 声援 书写 进球 骗人 处分
    布置 压制 论证 误会 歌唱 节省 节约 设法 上车 变形 保密 倡议 意味 陪伴 招标 出场 走私 解体 出境
    出面 亲吻 会面 问道 发文 钓鱼 关门 动用 奴役 救济 通车 通话 化妆 降价 俘虏 预料 解决问题 缺席
    航行 虚构 服役 生病 现身 上场 低头 开花 潜水 散步 思索 探险 做人 作弊 涨价 传授 净化 反省 流浪
    动人 绘制 用水 违纪 思念 立案 办案 开场 流泪 任教 投身 撰文 饰演 经商 绝食 裁员 调度 剪辑 买单
    招商 指派 知情 骑马 驾车 误导 住院 理会 开业 平息 等候 纳税 结盟 考量 会同 住宿 屏蔽 举例 出局
    开庭 洗脑 报价 问候 自学 界定 对阵 投机 讲话 办理 总结 分类 集资 计量 趋向
    """,
)


@dataclass(frozen=True)
class Word:
    """A word of the list, with its place among all words of its language."""

    text: str
    rank: int
    genre: str


def package_file(package: str, path: str) -> Path:
    """A file inside an installed package, found without running the package."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(
            f"{package} is not installed: see the first lines of {Path(__file__).name}"
        )
    return Path(spec.submodule_search_locations[0], path)


def english_tags() -> dict[str, str]:
    """The commonest part of speech of each English word, in the tags of the Penn Treebank."""
    lines = package_file("textblob", "en/en-lexicon.txt").read_text("utf-8").splitlines()
    entries = (line.split() for line in lines if not line.startswith(";;;"))
    return {entry[0]: entry[1] for entry in entries if len(entry) == 2}


def english_base_forms() -> Mapping[str, set[str]]:
    """For each English base form, whether it is that of a noun, a verb or an auxiliary."""
    base_forms = defaultdict(set)
    path = package_file("lemminflect", "resources/lemma_lu.csv.gz")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for word, genre, lemmas in csv.reader(file):
            if word in lemmas.split("/"):
                base_forms[word].add(genre)
    return base_forms


def english_words() -> Iterator[Word]:
    """English nouns and verbs, most frequent first."""
    tags, base_forms = english_tags(), english_base_forms()

    def is_plural(word: str) -> bool:
        return (
            word.endswith("s") and tags.get(word[:-1]) == "NN" and "noun" in base_forms[word[:-1]]
        )

    for rank, word in enumerate(iter_wordlist("en", "large"), start=1):
        genre = ENGLISH_TAGS.get(tags.get(word, ""), "")
        if not re.fullmatch("[a-z]{2,}", word) or genre not in base_forms[word]:
            continue
        if "aux" in base_forms[word] or word in ENGLISH_DROPPED:
            continue
        if tags[word] == "NNS" and is_plural(word):
            continue
        yield Word(word, rank, genre)


def chinese_genre(word: str, tag: str) -> str:
    """Noun, verb, or nothing if the word is not for the list."""
    if len(word) == 1:
        return next((g for g, words in CHINESE_CHARACTERS.items() if word in words), "")
    if word in CHINESE_DROPPED:
        return ""
    if word in CHINESE_NOUNS:
        return "noun"
    if tag.startswith("v") and CHINESE_PIECE.fullmatch(word):
        return ""
    return "verb" if word in CHINESE_VERBS else CHINESE_TAGS.get(tag, "")


def chinese_words() -> Iterator[Word]:
    """Chinese nouns and verbs in simplified characters, most frequent first."""
    lines = package_file("jieba", "dict.txt").read_text("utf-8").splitlines()
    tags = {word: tag for word, _, tag in (line.split(" ") for line in lines)}
    for rank, word in enumerate(iter_wordlist("zh", "large"), start=1):
        genre = chinese_genre(word, tags.get(word, "")) if word in tags else ""
        if genre:
            yield Word(word, rank, genre)


def rows(language: str, facts: Mapping[str, str], words: list[Word]) -> Iterator[dict[str, object]]:
    """The rows of the bank: facts about it, options, words."""
    for code, value in facts.items():
        yield {"record": "bank", "code": code, "value": value}
    for name, options in LABELS.items():
        for position, (code, english, chinese) in enumerate(options, start=1):
            yield {
                "record": "option", "format": name, "position": position, "code": code,
                "points": 2 - position, "stance": 3 - 2 * position,
                "text_en": english, "text_zh": chinese,
            }  # fmt: skip
    for position, word in enumerate(words, start=1):
        yield {
            "record": "item", "position": position, "code": f"w{position:04d}", "keyed": 1,
            "rank": word.rank, "genre": word.genre, f"text_{language}": word.text,
        }  # fmt: skip


def write_bank(folder: Path, language: str, title: str, citation: str, words: list[Word]) -> None:
    """Write one bank and say what is in it."""
    code = f"words_{language}_{SIZE}"
    nouns = sum(word.genre == "noun" for word in words)
    facts = {
        "code": code,
        "title": title,
        "description": f"{nouns:,} nouns and {SIZE - nouns:,} verbs, most frequent first, to be "
        "sorted into one of two words: comedy or tragedy, good or bad, enjoyable or unpleasant."
        f"{RANK_NOTE}",
        "licence": "CC-BY-SA-4.0",
        "citation": citation,
        "languages": language,
        "kind": "words",
    }
    columns = [*COLUMNS, f"text_{language}", "text_zh" if language == "en" else "text_en"]
    with (folder / f"{code}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows(language, facts, words))
    sys.stdout.write(
        f"{code}.csv: {nouns} nouns, {SIZE - nouns} verbs, "
        f"ranks {words[0].rank} to {words[-1].rank}\n"
    )


def main() -> None:
    """Write both banks into the folder named on the command line, or beside the other banks."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "banks"
    for package, use, licence in SOURCES:
        sys.stdout.write(f"{package}: {use}. {licence}.\n")
    write_bank(
        folder, "en", "Frequent English nouns and verbs (5,000 words)",
        f"{COMMON_CITATION}Brysbaert & New, 2009, doi:10.3758/BRM.41.4.977; van Heuven et al., "
        f"2014, doi:10.1080/17470218.2013.850521{TAIL}Genre: Brill's (1992) lexicon in textblob; "
        "base forms: the SPECIALIST lexicon in lemminflect.",
        list(islice(english_words(), SIZE)),
    )  # fmt: skip
    write_bank(
        folder, "zh", "Frequent Chinese nouns and verbs (5,000 words)",
        f"{COMMON_CITATION}Cai & Brysbaert, 2010, doi:10.1371/journal.pone.0010729{TAIL}"
        "Genre: the dictionary of jieba, corrected in places.",
        list(islice(chinese_words(), SIZE)),
    )  # fmt: skip


if __name__ == "__main__":
    main()
