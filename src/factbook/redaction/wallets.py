"""Find the keys of wallets by their checksums: seed phrases (BIP-39), WIF, extended private keys.

Each of them carries a checksum, so ordinary text is not taken for one: of prose whose words all
happen to be in the list one in 16 would be (of 24 words one in 256), and hardly any prose has
twelve such words in a row, as the list has none of fewer than three letters.
"""

from __future__ import annotations

import base64
import hashlib
import re
import zlib
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

import re2

from factbook.redaction.spans import Span

KINDS: Final = frozenset({"wallet-key", "seed-phrase"})
HINT: Final = r"[xyztuvXYZTUV]prv[1-9A-Z]|(?:5[HJK]|K[w-z]|L[1-5])[1-9A-Za-z]{15}"

_BASE58: Final = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_KEY: Final = re.compile(
    r"[xyztuvXYZTUV]prv[1-9A-HJ-NP-Za-km-z]{100,112}|[5KL][1-9A-HJ-NP-Za-km-z]{50,51}"
)
_CHECKED: Final = 4  # bytes of the checksum of a key
_SIZES: Final = (24, 21, 18, 15, 12)  # words of a phrase, the longest first
_LONG: Final = 64  # words of the list in a row that are more than a phrase
_INDEX_BITS: Final = 11  # of a word in the list
_LONGEST: Final = (1 << _INDEX_BITS * _SIZES[0]) - 1
_WORDS_A_BIT: Final = 33  # of so many bits one is of the checksum
# Twelve words in a row that could be of the list, with what people put between them.
_GAP: Final = r"(?:\\n|[\s,;|\"'.-]){1,4}(?:[0-9]{1,2}[.):]? {0,3})?"
_ROW: Final = re2.compile(rf"[A-Za-z]{{3,8}}(?:{_GAP}[A-Za-z]{{3,8}}){{11,}}".encode())
_WORD: Final = re.compile(r"[A-Za-z]{3,8}")

# The English list of BIP-39, 2,048 words in order, each as the number of letters that it shares
# with the word before and the rest of it.
_PACKED: Final = (
    "c-lRgjdrX!4uoH+v7g9*0Z$v7F{V4@>Gvy<*>iR?xt+#8QmLvWUSSMnuEnLC`t5Rb_3Hi;-5E>wwT-^FFm->m*<EKGrY"
    "WAMPqY2?;s+nPEk&M4GtZtqP43?-wdh(sPuG2_g>`(>b63d29FFd0pIB6%xqo=Z?WwyfclQZpiu^4OvDGn6!?J|bcz$*"
    "*q<L6FDlYocU5jzpVwi`tyXKGDx;t|ma%j67uiZ^`tJy_9PO-S`<L&F$?Ul`HiSF0}ON9A$XLUU`_YL<s?4if2`QKDlz"
    "O{NTs9VoN3Hj#9Y2zlW*WDVM&(XKrr9EW#CUAv#aCq+MYTsD${PLs6Qi4zaUeW!eNQm#@2%M_sy58=H;aR5=z?SmRrp+"
    "saG58YP%2T_KvjTV%-J&p*HTrlG*iY1zx{r%8l=$dd+j}_QEISd7Ktz3f{&MZn^=%JB-*W6^d3QZbZyyV(=-12<SY)`S"
    "PQKhsI#%U{n|9r~vOpO=v4xdqr!ZGAFnq(C=ORaoXJv!sA`;)w=HVxuuQ7}_5sO*RvnEfjE?a`9T5g}+KGy0=AU=giH6"
    "Qcsm0{M*01zDbcjN?}#Ku5miob~96v&C!hH-IA1!^m(*aGoLL?{c5M8<P`o{0;W;VR(x_GH?BBY?PT0Xow?k+|8t$=>{"
    "zk~aIkv1e?6i3kyz9mH`E&nhvzJ)qS-wa)xncPoL5K=^YTYS8lzTqWJl6##L%`qr~;W_O@Pw!cob(aC}^<9<K|@z);Qz"
    "Gz+5Ao%q0m&(#Hl=a20TlcI$j_WkloCpvP{3;w?p!44XVz=QMN8M~DphS==%9RrloYB7l9HE(k-CJR&mc8K2390O&I=$"
    "`w?&kl$zpp8bBYD@+Saa%Jh+Go0oc->0K;aKpe8_%^*|TL)$w&VQtVHIIz*#^UU+Aje=10CT`?dOm8#mITY;SB(J-N0L"
    ">a15+uLQ1DUt#M@x96LN(GQq_w5Ze^DZ^b=S<dV9{o<e0_Ositi9qt(?}wO3#Zymz2ndbewHk3gylR1eEWWWBp&;hOg^"
    "1_b?<G=wuo91o*9rxCP1HQF@U0AK4b4&JJI885R8PM=e7g@7okQCF;agg6|5d33@ckye&GITDT^7HOo>hrs<+Ig}wfSq"
    "dbdH>zBXQzB31P%UTvW>i(5Sj40+H-txlG-QD=1dLM=m`#f*Msx9L^u1+!O_@=x0jZFRAT*HEJ$;^h|<iZ#DZ*5-<U7c"
    "E=G#KaGfTV~TTn3aWG6OI6tk*&!C=*k@8|z)tPaFzp4jrTd*NsF0@wv;S2jb`R6|`1W6mcUPsIhY?^sR0LZ7i}FlKn`f"
    "wuY80AO+2`hzDm3L90V8>b*TGhhS|qfHqY_=Az!Ys00913FOojiN!|Zk;`%q9+1Uv_zSXfY#D!>#_Pj(~9Kn_pH2SSMZ"
    "s8Z&)tRUBBe~kfj@X!*A$g7AL2`)#2d6I&%2hlCxD!NY>F{1&<f$?xX35L=R$F-yrPc4n?rUb5q!aam#(nEa)GOk2?;M"
    "c<&Hn~;`Ya^;z*`B3N<Pcc1mtfK$N>yQbq<-H6sO2IRso?5DfMi2whN3yJ*Oe&DJ&}uQ{B`IuT`aCNcMC#o{OkAk9_rK"
    "$eWsA2hhqZ{yNbRjL~p5ZbNo+~DTew8B%os@HGA-~4}d|)5X<rh7NN)vC9ob2VZRZn_d~6J*#e57;YN<yGTfA5nqDzH3"
    "hf%2QpD(I;y2<wAmR_z!&Cb`NSEY3CJu<*pjw7?rKC4WpG07Ut+}})JdM+>p$Mn^z(er!6Sy-g$TAK47^v+E2LgS8L2_"
    "wyb>u1sqVl@26T<K$AC#koR>;|T3ISRyoa@85m@A9*Kjb_onHP}By}5ABh@>#Dio$Ry-G+uZ9O<lc9R7t!eL9FRgyQ&w"
    ">J&wB-s|YYIfa8$lh3Fvx&pvjcpV(wbPgZcJb;CtLFY56`jOGt52=8Ty_px`>ORXsNC)F|sT3xGd_$)J$VhY(*FA-<s@"
    "gtO211)oomHOj>f;8x3ZaGJj($WYUrQLdtdp<GfEKz-D(Ow&Vhi{}X{FW?ph>_ysh$0)b<+?pQA{#Y<}YjGxKy-}#n`U"
    "Uv?$butDI#?f}9-D0Er*T(6kwyeFrMBxyK$wgml#c+-eu0fo_D)8--BcBuIadpiVjg2a&A0AH-laj)Mk0XK`X~i5k2gx"
    "-_WDpOBt38@<8ySXl|K`~*^z0b`ZJ03+rCk#~rpUoslIm-)h4zzsT;{NfMUUlo4YC0r=cW8tJQ7lCv2`ULA(JetMEm_X"
    "bYN=YCKAeI^6uCF!BvJ#YX4nMfJM|9oc<O#hQ1UZQ;sZsqSvSd@?hfJXdqFxkepNyCvp%=hUEkA5HbLfi)7r0|p7L1Pr"
    "yhUC<vi2N#GQ%lukS{v~>(R^)5`^pfV#J6Ug*7YS<VhyYtaT3VJYd2z9m;5d+X>C+Co?uG=V-P|+z39X3HFcy0JJFP?X"
    "N@27viHJ$G<aV2@C)j?)|j|!+LXhar<tTO4yiDP=Yy<TV<7Vin2I_`@Y?;?6QnrhWX*s&n>6C)zyFj%q!s(KvcIw;$Fq"
    "Ag1@{u!B_n7M?)Ruwjo%dge%RIwZKA(%)M|3!hm{n3IcK-j~^pN*+Kq91QnI9L!-Rdsp{m7-eWa`)@EyWBoOKthnu>bU"
    "r8RJ471vmj>DlMhP7bH2kJAf(i#FaNMxZ%2u41QTEEnSiA=2Uks8Vy`jo00m0<4w^mL9tsGG#2N?K05hFiqDIhohlp_w"
    "d=ROCCd>i&t=uYykPXZkh?kOy{2ohdC}kTaSd@j668#3HL9BJE98Ro%y0ENv^|!}AR%y^ERzt$JRf%6*`Q@7F)(++hT8"
    "Aj2%fAoo!KV7}cqX0oHg!7^V>*+9cgc8K0iW>?u`ZucgauQ#L`TCD?Zib`nOu7d~gN2rA!rgGOA7h~Nu{S_{iY6s70DB"
    "_bPnu+|rGUx{IByyh3!M*>syOfTjqo>j*laC_DL+2q43GRzzo>0Nl0muPq0lcvpsmaJwWh#D!NnA1=lKs`;05UDl@lcU"
    "ySXF>BQQpnLqFw4}-UKM%mcW#tuG5W#+!dOeqEyX~%`}_v6iO8bxY6oL)cVHJOypRNqx^xky503~8xP$whtnG$COvhsZ"
    "E$rXZ0-k$3^(F(zIH6Nm}u5&#JH>SWvKrlb~=_?d>R~4oRCQ4A|bUtMPk@Y%{NaQYPL^Kwk2(N()bw_%b|c#sR4ibvCn"
    "?ej-L@R(oa7j7ZmB4gF1{^Tp3)Jo9K3QQc3!|ZH)k^w<BKCeOTqxeyZuM&f*D~<cC7=@KUW^k-~nmsr3lJ7?Wbd2l+9z"
    "J=6i${n5n1NV$$lU8IaRwY_`mv64KVoZQorY)aN&Z(w$e#Pw?4>2LNU(v--bN{LUAjBMCZDT#WygBm$?j>y3_kiV;4A@"
    "Q0P-I&+KTUPt_DnYhbs`FMKX?-+w{Y0cGkig>YB8d!L^AR;f(1Jwh*y7hUxoVcSNr}6<gx};HaYlaRySC1?xwRb3o>Wn"
    "FR*rYk<tF3W&AlOQ>gAIe;fz7JxC8qe#^mSvtA_V5Qn6wr+?(()DaBF8uvYk^Hf5OjRDGfAh*=xv+AyMC@sll!G?;mKh"
    "kHQIbpM-Hb{ck+T1JJFk^t*N?%{w9T7YZJa;jTZYz7+|If)b4qAZ_5glZ5sD>KlAU7;E14X1qWHkkXp`Yhg+@xPw_aF8"
    "w1HUpM{Z~WXVC%grQ;kTCf60bYqPii7Dl!@4ZUa$^s@=rQU+|^4J8JJel(c3tUO4)44=GBMFkZJ~J)huJ7Nf1!uGzgje"
    "0z$wgG=G3tCTvnwO&+$vB9<po-gpR;L6iVzld{|=4~mpZb(5NJqqQgu_^6OVoquE$?Z8sn#}WSihQY2?Y$~K@Z3?DtNy"
    "L6x6Hm;C8Zn6Stc0O?8*Qox5oCgWWhsVPN?JdG_)LOUmlv-O>eXbSA<7s5){suUp1>JrDd3{i1bHIsb-Qd((fA_T<cb`"
    "78{}eZ6a=*^5vS*b@!gw^pD(_=5G3mzO+NQ3<y-JXV(U`_fNrundvyg^g)D}eZTv!;XI|Wj5(#$){!@+zu&EJd1wqkl2"
    "VR)y;Sz54!a%4+(HBam_?uV}-Bmy|8|nU+h9SPNX@=dYR*4-#7{o0$^w6qOSqU4+K^VQn4ehYb$o%I=>gawcD@}Z1cA;"
    "SejF(1YfB^CmTcks_hwRu?kf^xjZ=&)H`BtT<k#bAiQ`O<;X_6C8@wQg?zv+NF`j4`$)M*+?XQp9TQd^CG5q>nbex~Ix"
    "gUuCW1!O=j8T_M~S)y_2*5K*6OZ8Bm378ZDR<n`ocK2<kOVMym{nAF2D-=sMQp4*wO||hsDv$GR{EFCT;Yzv+FOF3M{q"
    "D@q?ACY!f_GB=o==DP=M#X#Bd(+9Znn`bcclTbLDB1EL6ac)<Rx17!bciHX$WKLgU8cR@DDwm3tb#tn-dmI%2e;eByU%"
    "&T`+8@AC9}cU>0rZyC==FtIei+IJ_1PFXxmFHW^8{*GOH+w~^Uw`TG+Lv--14gmo;I>nzfjp-*O%<*X+44^gdw`a)}=y"
    "LB&WBs5@@dfTXi|B6CpO)Xkl7S4zpU)28D2&0)Z)2K!hLE%W?u+jg1_-l37qIBW*Mw@KP^ReFgWKeo(WSMVUYfs{o<7r"
    "s&KMi=9Ga|EHLuIVRTfaqdR<cnFyV3}2DmjwV7!NOe{zn(uWv3?$O3~K_$-AnfSqE=pfZDgAXsq|v*i3h<U*L04odUgi"
    "vN^~d>Tq+iIT?vj#7(>P_QhVWxMuCdl?5llF=^&G9N}s4WaTye)WH3j{#jH33l$yz4lEy{J0+<A1tvl`?RA5qD=^$%y_"
    "I5lYaAl+jlYywYxvPe$maz0ptmwp?bNJQDCz%E`dg}H6Wmyhm2`^L61m$u3AG4M`{^_XT-j1{e8ozykgS)z=Ks%mmESA"
    "|{pUYzQq4T?)i!7S-7~5qe5*P|E~aMET5=HCC7om)6HO&((y#;@UizaY>!xV?In1qgcY4O3!#5Z>xf}N&@6w`f^R->C6"
    "NC?lj~;g9E{A5M4Riyh{bfONns)yUAq<1kMKzQf31D&oS?{%CX`dH0yEUj@eOgJUGO^2d;ju6nZ;jmbPDOt9d4D7)b=q"
    "vp-t7JNZtK!moHP$M9X6UF5c$sygQMG8VD%XnC&=pkMPmV}aO!}eAXtN^%yT5Y_;^Q6B$3x@{*m;pFt0h~Y7S4+RI4fx"
    "N71XUUZuD4CPB@z#&DusxuWv-=0??nrJcMw2+b2t6XvJg&;D<uAovQ)W7Mo?)wF2W?C02SZ{yI*=z-kshdB$K=eF^-`2"
    "%P0vG--!HF@x&Im$qb`O#a^+v=i-%Ik0+vKw&mwdQ-+M-ZRG-{_I!lT&s1AER$d#yxLZ5yUNMUXd2b-oL~~?}KG%-=$K"
    "J8RSFQ1mZLSiI~$vZIN5$=iH_x<UaKVH1?s5xHFuPk-CO#3l*=ar<1?$_TKsR36rpL(GO`<m(_noE2(1hw4=6Xq%Rbqh"
    "eO<wM4D^sRTd>L^X4!0V(L|%{!D(7KtYMP+GIE$n=IpGZwE9t;qKKTp@fFx(Whu8mepKH9`)|-4C=A$m6WcVXhI3<LqI"
    "Nb?E1W1l^(9~^;MTB|ME0mGOC)?v?bU~kV`amYloGLd6VZ215NWG+VVE77h1<Ze-+=>VmIxkm!9fh1{-?x2USMvAmlKk"
    "HfX2;Y!F?|3kjg)36vuo#e7_|sgazLTtc@AP1VRsHd<;>^&I$q>*be7dIRGJ)>yAGtu+!m>J9npe#Tc#gDQ03GB(*>zm"
    "Y&|U?sM%{{wrH+|&"
)


@cache
def _places() -> dict[str, int]:
    places: dict[str, int] = {}
    word = ""
    for shared, rest in re.findall(
        r"(\d)([a-z]+)", zlib.decompress(base64.b85decode(_PACKED)).decode()
    ):
        word = word[: int(shared)] + rest
        places[word] = len(places)
    return places


def wallet_spans(text: str, at: int, end: int) -> Iterator[Span]:
    """Give the private key that begins at a hint."""
    if (
        at
        and text[at - 1].isalnum()
        and not (text[at - 1] in "nrt" and text[at - 2 : at - 1] == "\\")
    ):
        return
    match = _KEY.match(text, at)
    whole = match is not None and not text[match.end() : match.end() + 1].isalnum()
    if match is not None and whole and _is_checked(match[0]):
        yield *match.span(), "wallet-key"


def _is_checked(word: str) -> bool:
    """Tell whether a word in base 58 ends with its own checksum."""
    number = 0
    for letter in word:
        number = number * 58 + _BASE58.index(letter)
    data = number.to_bytes((number.bit_length() + 7) // 8, "big")
    once = hashlib.sha256(data[:-_CHECKED]).digest()
    return hashlib.sha256(once).digest()[:_CHECKED] == data[-_CHECKED:]


def phrase_spans(text: str, data: bytes, low: int, high: int) -> Iterator[Span]:
    """Give the seed phrases of a part of a text; `data` is the text in ASCII."""
    for row in _ROW.finditer(data, low, high):
        words = list(_WORD.finditer(text, *row.span()))
        known = _places()
        if not any(word[0].lower() in known for word in words[_SIZES[-1] - 1 :: _SIZES[-1]]):
            continue  # the shortest phrase would hold one of these
        places = [known.get(word[0].lower(), -1) for word in words]
        start = 0
        for end, place in enumerate([*places, -1]):
            if place < 0:
                short = end - start < _SIZES[-1]
                for first, last in _phrases(places[start:end]) if not short else ():
                    span = words[start + first].start(), words[start + last - 1].end()
                    yield *span, "seed-phrase"
                start = end + 1


def _phrases(run: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Give where phrases stand in words of the list without a gap, as the places of the words.

    Nobody writes so many words of the list, and different ones, one after the other: they are
    phrases under each other, or nearly so, and are taken whole.
    """
    if len(run) > _LONG and len(set(run)) >= _SIZES[-1]:
        yield 0, len(run)
        return
    number = done = 0  # of the longest phrase that begins at a word
    known: dict[tuple[int, int], int] = {}  # how many words are one, since words come again
    for at, place in enumerate([*run, *[0] * (_SIZES[0] - 1)], 1 - _SIZES[0]):
        number = (number << _INDEX_BITS | place) & _LONGEST
        left = min(_SIZES[0], len(run) - at)
        if done <= at and left >= _SIZES[-1]:
            size = known.get((number, left), -1)
            if size < 0:
                shorter = ((n, number >> _INDEX_BITS * (_SIZES[0] - n)) for n in _SIZES)
                size = next((n for n, phrase in shorter if n <= left and _is_phrase(phrase, n)), 0)
                known[number, left] = size
            if size:
                yield at, at + size
                done = at + size


def _is_phrase(number: int, size: int) -> bool:
    """Tell whether the places of so many words end with the checksum of the others."""
    checked = size * _INDEX_BITS // _WORDS_A_BIT
    entropy = (number >> checked).to_bytes(4 * checked, "big")
    return hashlib.sha256(entropy).digest()[0] >> (8 - checked) == number & ((1 << checked) - 1)
