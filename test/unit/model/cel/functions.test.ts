import { describe, expect, it } from 'vitest'
import { Meter } from '../../../../shared/model/cel/meter.ts'
import { compileExpression } from '../../../../shared/model/cel/program.ts'
import { plain } from '../../../../shared/model/cel/type.ts'
import { CelFailure, type Result } from '../../../../shared/model/cel/value.ts'

/** What is wrong with a text is found when it is compiled, where all of it is known by then. */
function run(text: string): Result {
  const program = compileExpression(text, {}, { gives: [] })
  return 'fault' in program ? new CelFailure(program.fault) : program.run([], new Meter(1_000_000))
}

/** What holds by the definition of the language, and of the libraries that Kubernetes adds to it. */
describe.each<[string, readonly string[]]>([
  [
    'a text',
    [
      '"abc".startsWith("ab") && !"abc".startsWith("bc")',
      '"abc".endsWith("bc") && !"abc".endsWith("ab")',
      '"abc".contains("b") && !"abc".contains("d") && "abc".contains("")',
      '"abc".charAt(0) == "a" && "abc".charAt(2) == "c" && "abc".charAt(3) == ""',
      '"a😀c".charAt(1) == "😀" && "a😀c".charAt(2) == "c" && "a😀c".charAt(3) == ""',
      '"abcab".indexOf("ab") == 0 && "abcab".indexOf("ab", 1) == 3 && "abc".indexOf("x") == -1',
      '"abc".indexOf("") == 0 && "abc".indexOf("", 2) == 2 && "abc".indexOf("c", 3) == -1 && "abc".indexOf("c", 2) == 2',
      '"abc".indexOf("", 5) == 5 && "abc".lastIndexOf("", 5) == 5 && "abc".substring(0, 0) == ""',
      '"😀a😀".indexOf("a") == 1 && "😀a😀".indexOf("😀", 1) == 2 && "😀a".indexOf("a", 2) == -1',
      '"abcab".lastIndexOf("ab") == 3 && "abcab".lastIndexOf("ab", 2) == 0 && "abc".lastIndexOf("x") == -1',
      '"abc".lastIndexOf("") == 3 && "abc".lastIndexOf("", 1) == 1 && "".lastIndexOf("a") == -1 && "".lastIndexOf("") == 0',
      '"abc".lastIndexOf("c", 2) == 2 && "abc".lastIndexOf("c", 3) == -1 && "abc".lastIndexOf("b", 0) == -1',
      '"a😀a".lastIndexOf("a") == 2 && "😀a😀".lastIndexOf("😀", 1) == 0',
      '"AbCÄ".lowerAscii() == "abcÄ" && "aBcä".upperAscii() == "ABCä"',
      '"  a b \\n\\t".trim() == "a b" && "\\u0085a\\u2003".trim() == "a" && "\\ufeffa".trim() == "\\ufeffa" && "  ".trim() == ""',
      '"\\u2000a\\u200a".trim() == "a" && "\\u200ba".trim() == "\\u200ba" && "\\u1680a\\u3000".trim() == "a"',
      '"abc".substring(1) == "bc" && "abc".substring(3) == "" && "abc".substring(0, 2) == "ab" && "abc".substring(1, 1) == ""',
      '"a😀c".substring(1, 2) == "😀" && "a😀c".substring(2) == "c" && "abc".substring(3, 3) == ""',
      '"aba".replace("a", "x") == "xbx" && "aba".replace("a", "x", 1) == "xba" && "aba".replace("a", "x", 0) == "aba"',
      '"aba".replace("a", "x", -1) == "xbx" && "aba".replace("a", "x", 2) == "xbx" && "aba".replace("c", "x") == "aba"',
      '"ab".replace("", "-") == "-a-b-" && "ab".replace("", "-", 2) == "-a-b" && "ab".replace("", "-", 1) == "-ab"',
      '"ab".replace("", "-", 9) == "-a-b-" && "ab".replace("", "-", 0) == "ab" && "".replace("", "-") == "-"',
      '"a,b,c".split(",") == ["a", "b", "c"] && "a,b,c".split(",", 2) == ["a", "b,c"] && "a,b,c".split(",", 0) == []',
      '"a,b,c".split(",", 1) == ["a,b,c"] && "a,b,c".split(",", 3) == ["a", "b", "c"] && "a,b".split(",", -1) == ["a", "b"]',
      '"abc".split("") == ["a", "b", "c"] && "abc".split("", 2) == ["a", "bc"] && "".split(",") == [""]',
      '"".split("", 1) == [] && "".split(",", 1) == [""] && "abc".split("", 1) == ["abc"]',
      '["a", "b"].join() == "ab" && ["a", "b"].join("-") == "a-b" && ["a"].join("-") == "a"',
      'strings.quote("a\\"b\\n") == "\\"a\\\\\\"b\\\\n\\""',
      '"abc".size() == 3 && size("😀") == 1 && size("") == 0 && size("a😀b") == 3',
      '"abc" < "abd" && "ab" < "abc" && "" < "a" && !("b" < "a") && "a" <= "a" && "b" > "a" && "b" >= "b"',
      '"\\uffff" < "😀" && "😀" > "\\uffff" && "😀" < "😁" && "\\ud7ff" < "\\ue000" && "a" != "b"',
      '"\\uffff" < "\\U00010000" && "\\U00010000" > "\\uffff" && "\\U00010000" < "\\U000103ff" && "\\U000103ff" > "\\U00010000"',
      '"😀a".split("") == ["😀", "a"]',
      '"a" + "b" == "ab" && "" + "" == ""',
    ],
  ],
  [
    'a pattern',
    [
      '"abc".matches("b") && !"abc".matches("^b") && matches("abc", "^abc$")',
      '"a1b22".find("[0-9]+") == "1" && "ab".find("[0-9]+") == ""',
      '"a1b22".findAll("[0-9]+") == ["1", "22"] && "a1b22c3".findAll("[0-9]+", 2) == ["1", "22"] && "a1".findAll("[0-9]", 0) == []',
      '"a1b2".findAll("[0-9]", -1) == ["1", "2"] && "ab".findAll("[0-9]") == []',
    ],
  ],
  [
    'an address',
    [
      'isIP("1.2.3.4") && isIP("0.0.0.0") && isIP("255.255.255.255") && !isIP("256.1.1.1") && !isIP("1.2.3") && !isIP("1.2.3.4.5")',
      '!isIP("01.2.3.4") && !isIP("") && !isIP("1.2.3.x") && !isIP("::ffff:1.2.3.4") && !isIP("fe80::1%eth0")',
      '!isIP("::ffff:0102:0304") && !isIP("0:0:0:0:0:ffff:1:2") && !isCIDR("::ffff:1:2/128") && isIP("::fffe:1:2")',
      'isIP("::1.2.3.4") && string(ip("::1.2.3.4")) == "::102:304" && !ip.isCanonical("::1.2.3.4") && !isIP("::1.2.3") && !isIP("1:2:3:4:5:6:7:1.2.3.4")',
      'isIP("::") && isIP("::1") && isIP("1::") && isIP("1:2:3:4:5:6:7:8") && isIP("1:2:3::5:6:7:8") && isIP("ABCD::")',
      '!isIP("1:2:3:4:5:6:7") && !isIP("1:2:3:4:5:6:7:8:9") && !isIP("1:2:3:4:5:6:7::8") && !isIP("1::2::3") && !isIP("12345::") && !isIP("g::")',
      'ip("1.2.3.4") == ip("1.2.3.4") && ip("1.2.3.4") != ip("1.2.3.5") && ip("::1") == ip("0:0::1") && ip("0.0.0.1") != ip("::1")',
      'string(ip("1.2.3.4")) == "1.2.3.4" && string(ip("255.0.0.1")) == "255.0.0.1"',
      'string(ip("0:0:0:0:0:0:0:0")) == "::" && string(ip("0:0:0:0:0:0:0:1")) == "::1" && string(ip("1:0:0:0:0:0:0:0")) == "1::"',
      'string(ip("1:0:0:2:0:0:0:3")) == "1:0:0:2::3" && string(ip("1:0:0:2:3:0:0:4")) == "1::2:3:0:0:4"',
      'string(ip("1:0:2:3:4:5:6:7")) == "1:0:2:3:4:5:6:7" && string(ip("ABCD:EF01::")) == "abcd:ef01::" && string(ip("1:2:3:4:5:6:0:0")) == "1:2:3:4:5:6::"',
      'ip.isCanonical("::1") && !ip.isCanonical("0::1") && ip.isCanonical("1.2.3.4") && !ip.isCanonical("ABCD::")',
      'ip("1.2.3.4").family() == 4 && ip("::1").family() == 6',
      'ip("0.0.0.0").isUnspecified() && ip("::").isUnspecified() && !ip("0.0.0.1").isUnspecified() && !ip("::1").isUnspecified()',
      'ip("127.0.0.1").isLoopback() && ip("127.255.0.1").isLoopback() && ip("::1").isLoopback() && !ip("128.0.0.1").isLoopback() && !ip("::2").isLoopback()',
      'ip("224.0.0.255").isLinkLocalMulticast() && ip("ff02::1").isLinkLocalMulticast() && !ip("224.0.1.0").isLinkLocalMulticast() && !ip("ff03::1").isLinkLocalMulticast()',
      'ip("169.254.1.1").isLinkLocalUnicast() && ip("fe80::1").isLinkLocalUnicast() && ip("febf::1").isLinkLocalUnicast() && !ip("169.255.1.1").isLinkLocalUnicast() && !ip("fec0::1").isLinkLocalUnicast()',
      'ip("8.8.8.8").isGlobalUnicast() && ip("10.0.0.1").isGlobalUnicast() && ip("2001:db8::1").isGlobalUnicast()',
      '!ip("0.0.0.0").isGlobalUnicast() && !ip("127.0.0.1").isGlobalUnicast() && !ip("224.1.1.1").isGlobalUnicast() && !ip("239.1.1.1").isGlobalUnicast() && !ip("169.254.1.1").isGlobalUnicast()',
      '!ip("255.255.255.255").isGlobalUnicast() && ip("255.255.255.254").isGlobalUnicast() && ip("240.0.0.1").isGlobalUnicast() && !ip("ff0e::1").isGlobalUnicast() && ip("fe00::1").isGlobalUnicast()',
    ],
  ],
  [
    'a network',
    [
      'isCIDR("10.0.0.0/8") && isCIDR("10.0.0.0/0") && isCIDR("10.0.0.0/32") && isCIDR("::/0") && isCIDR("::/128")',
      '!isCIDR("10.0.0.0/33") && !isCIDR("::/129") && !isCIDR("10.0.0.0") && !isCIDR("10.0.0.0/08") && !isCIDR("10.0.0.0/") && !isCIDR("10.0.0/8") && !isCIDR("10.0.0.0/8/8") && !isCIDR("10.0.0.0/-1")',
      'cidr("10.0.0.0/8") == cidr("10.0.0.0/8") && cidr("10.0.0.0/8") != cidr("10.0.0.0/9") && cidr("10.0.0.0/8") != cidr("11.0.0.0/8")',
      'string(cidr("10.1.2.3/8")) == "10.1.2.3/8" && string(cidr("10.1.2.3/8").masked()) == "10.0.0.0/8" && string(cidr("1:2:3::/20").masked()) == "1::/20"',
      'string(cidr("10.1.2.3/0").masked()) == "0.0.0.0/0" && string(cidr("10.1.2.3/32").masked()) == "10.1.2.3/32"',
      'cidr("10.0.0.0/8").containsIP("10.255.0.1") && !cidr("10.0.0.0/8").containsIP("11.0.0.0") && !cidr("10.0.0.0/8").containsIP("a00::")',
      'cidr("10.0.0.0/8").containsIP(ip("10.1.1.1")) && !cidr("::/0").containsIP(ip("10.1.1.1")) && cidr("::/0").containsIP(ip("1::"))',
      'cidr("10.0.0.0/8").containsCIDR("10.1.0.0/16") && cidr("10.0.0.0/8").containsCIDR(cidr("10.0.0.0/8")) && !cidr("10.0.0.0/8").containsCIDR("10.0.0.0/7") && !cidr("10.0.0.0/8").containsCIDR("11.0.0.0/16")',
      'cidr("10.1.2.3/8").ip() == ip("10.1.2.3") && cidr("10.1.2.3/8").prefixLength() == 8',
      'string(dyn(cidr("10.0.0.0/8"))) == "10.0.0.0/8" && string(dyn(ip("10.0.0.1"))) == "10.0.0.1"',
    ],
  ],
  [
    'a list',
    [
      '[1, 2, 2].isSorted() && ![2, 1].isSorted() && [1].isSorted() && ["a", "b"].isSorted() && [1.5, 2.5].isSorted() && [1u, 2u].isSorted()',
      '[3, 1, 2].min() == 1 && [3, 1, 2].max() == 3 && ["b", "a"].min() == "a" && [false, true].max() && [1.5, 0.5].min() == 0.5 && [5].max() == 5',
      'string([0.0, -0.0].min()) == "0" && string([-0.0, 0.0].min()) == "-0" && string([0.0, -0.0].max()) == "0"',
      '[duration("2s"), duration("1s")].min() == duration("1s") && [b"b", b"a"].max() == b"b" && [2u, 3u].max() == 3u',
      '[timestamp("2026-01-02T00:00:00Z"), timestamp("2026-01-01T00:00:00Z")].min() == timestamp("2026-01-01T00:00:00Z")',
      '[1, 2, 3].sum() == 6 && [1u, 2u].sum() == 3u && [0.5, 0.25].sum() == 0.75 && [duration("1s"), duration("2s")].sum() == duration("3s")',
      '[1, 2, 1].indexOf(1) == 0 && [1, 2, 1].lastIndexOf(1) == 2 && [1].indexOf(2) == -1 && [1].lastIndexOf(2) == -1',
      'sets.contains([1, 2], [1]) && !sets.contains([1], [1, 2]) && sets.contains([1], []) && sets.contains([1, 1], [1])',
      'sets.equivalent([1, 1, 2], [2, 1]) && !sets.equivalent([1, 2], [1]) && !sets.equivalent([1], [1, 2])',
      'sets.intersects([1, 2], [2, 3]) && !sets.intersects([1], [2]) && !sets.intersects([1], [])',
      '[1, 2].size() == 2 && size([1]) == 1 && [1] + [2] == [1, 2] && 1 in [1, 2] && !(3 in [1, 2])',
      '[1, 2] == [1, 2] && [1, 2] != [2, 1] && [1] != [1, 2] && [[1]] == [[1]] && [1, 2][1] == 2 && [1, 2][0] == 1',
      '[1, 2, 3].all(x, x > 0) && ![1, 2].all(x, x > 1) && [1, 2].exists(x, x == 2) && ![1].exists(x, x == 2) && [1, 2, 1].exists_one(x, x == 2) && ![1, 1].exists_one(x, x == 1)',
      '[1, 2].map(x, x * 2) == [2, 4] && [1, 2, 3].map(x, x > 1, x * 2) == [4, 6] && [1, 2, 3].filter(x, x != 2) == [1, 3]',
      '[1, 2].all(i, x, x == i + 1) && [5, 6].exists(i, x, i == 1 && x == 6) && [5, 6].transformList(i, x, x + i) == [5, 7] && [5, 6].transformList(i, x, i > 0, x) == [6]',
      '[5, 6].transformMap(i, x, x * 2) == {0: 10, 1: 12} && {"a": 1}.transformMapEntry(k, v, {v: k}) == {1: "a"} && {"a": 1, "b": 2}.transformMap(k, v, v > 1, v) == {"b": 2}',
    ],
  ],
  [
    'an optional',
    [
      'optional.of(1).hasValue() && !optional.none().hasValue() && optional.of(1).value() == 1 && optional.of(1).orValue(2) == 1',
      'optional.none().orValue(2) == 2 && optional.of(1).or(optional.of(2)).value() == 1 && optional.none().or(optional.of(2)).value() == 2',
      '!optional.ofNonZeroValue(0).hasValue() && optional.ofNonZeroValue(1).hasValue() && !optional.ofNonZeroValue("").hasValue() && optional.ofNonZeroValue("a").hasValue()',
      '!optional.ofNonZeroValue([]).hasValue() && optional.ofNonZeroValue([1]).hasValue() && !optional.ofNonZeroValue({}).hasValue() && optional.ofNonZeroValue({1: 1}).hasValue()',
      '!optional.ofNonZeroValue(false).hasValue() && optional.ofNonZeroValue(true).hasValue() && !optional.ofNonZeroValue(0.0).hasValue() && !optional.ofNonZeroValue(null).hasValue()',
      'optional.of(1) == optional.of(1) && optional.of(1) != optional.of(2) && optional.none() == optional.none() && optional.of(1) != optional.none()',
      'optional.of([1]) == optional.of([1]) && optional.of([1]) != optional.of([2]) && optional.none() != optional.of([1])',
      '{"a": 1}[?"a"] == optional.of(1) && {"a": 1}[?"b"] == optional.none() && [1][?0] == optional.of(1) && [1][?1] == optional.none()',
      '{"a": {"b": 1}}.?a.?b.orValue(0) == 1 && {"a": {"b": 1}}.?x.b.orValue(0) == 0 && optional.of(1).optMap(x, x + 1).value() == 2',
      '[?optional.of(1), ?optional.none()] == [1] && {?"a": optional.of(1), ?"b": optional.none()} == {"a": 1}',
    ],
  ],
  [
    'a number',
    [
      '7 / 2 == 3 && -7 / 2 == -3 && 7 % 3 == 1 && -7 % 3 == -1 && 7u / 2u == 3u && 7u % 4u == 3u && 7u - 2u == 5u && 2u * 3u == 6u',
      '1 + 2 == 3 && 1 - 2 == -1 && 2 * 3 == 6 && 1.5 + 2.0 == 3.5 && 1.5 - 2.0 == -0.5 && 1.5 * 2.0 == 3.0 && 3.0 / 2.0 == 1.5 && 1u + 2u == 3u',
      'dyn(1) == 1.0 && dyn(1u) == 1 && 1 < 1.5 && 2u > 1.5 && 1 <= 1u && dyn(1) == dyn(1u) && dyn(1.5) != dyn(1) && 0x10 == 16 && -(1) == -1 && -(1.5) == -1.5',
      '9223372036854775807 - 1 == 9223372036854775806 && -9223372036854775807 - 1 < 0 && 18446744073709551615u > 9223372036854775807u',
      '9223372036854775807 != 9223372036854775806 && 9223372036854775807 > 9223372036854775806 && !(2 <= 1) && !(1 >= 2)',
      '!(0.0 / 0.0 == 0.0 / 0.0) && !(0.0 / 0.0 < 1.0) && !(0.0 / 0.0 >= 1.0) && 1.0 / 0.0 > 1e308',
      'int("12") == 12 && int("-12") == -12 && int("+12") == 12 && int(1.9) == 1 && int(-1.9) == -1 && int(5u) == 5 && int(duration("1s")) == 1000000000',
      'int("9223372036854775807") == 9223372036854775807 && uint("18446744073709551615") == 18446744073709551615u && uint(1.9) == 1u && uint(0.0) == 0u && uint(5) == 5u',
      'int(timestamp("1970-01-01T00:00:01.9Z")) == 1 && int(timestamp("1969-12-31T23:59:59.5Z")) == -1 && int(timestamp("1969-12-31T23:59:59Z")) == -1',
      'double("1.5") == 1.5 && double("-1.5e2") == -150.0 && double(".5") == 0.5 && double("inf") > 1e308 && double("-Infinity") < -1e308 && double("NaN") != double("NaN")',
      'double(2) == 2.0 && double(2u) == 2.0 && double("1.") == 1.0 && double("1E2") == 100.0',
      'string(1) == "1" && string(1u) == "1" && string(1.5) == "1.5" && string(1e6) == "1e+06" && string(1e-5) == "1e-05" && string(0.0001) == "0.0001" && string(123456.5) == "123456.5"',
      'string(1e21) == "1e+21" && string(1234567.5) == "1.2345675e+06" && string(1.0 / 0.0) == "+Inf" && string(-1.0 / 0.0) == "-Inf" && string(0.0 / 0.0) == "NaN" && string(-0.0) == "-0" && string(0.0) == "0"',
      'bool("T") && !bool("F")',
      'bool("true") && bool("t") && bool("1") && bool("TRUE") && bool("True") && !bool("false") && !bool("f") && !bool("0") && !bool("FALSE") && !bool("False")',
      'string(true) == "true" && string(b"abc") == "abc" && bytes("ä").size() == 2 && b"a" + b"b" == b"ab" && b"a" < b"b" && b"a" < b"aa" && b"ab" != b"ac" && b"ab" == b"ab"',
      'string(b"\\xef\\xbb\\xbfa") == "\\ufeffa"',
      'false < true && !(true < false) && true >= true && false <= false',
      'type(1) == int && type("a") == string && type(1u) == uint && type([1]) == list && type({}) == map && type(null) == null_type && type(1.0) == double && type(b"") == bytes && type(true) == bool && type(int) == type',
      'type(timestamp(0)) == google.protobuf.Timestamp && type(duration("1s")) == google.protobuf.Duration && type(1) != string && type(optional.none()) == optional_type',
    ],
  ],
  [
    'a map',
    [
      '{"a": 1}.size() == 1 && size({}) == 0 && "a" in {"a": 1} && !("b" in {"a": 1}) && {"a": 1}.a == 1 && {"a": 1}["a"] == 1 && {1: "x"}[1] == "x"',
      '{"a": 1, "b": 2} == {"b": 2, "a": 1} && {"a": 1} != {"a": 2} && {"a": 1} != {"b": 1} && {"a": 1} != {"a": 1, "b": 1} && {true: 1}[true] == 1',
      'has({"a": 1}.a) && !has({"a": 1}.b) && {1u: 1}[1u] == 1 && {"a": null}.a == null',
      'dyn(1.0) in {1: 2} && !(dyn(1.5) in {1: 2}) && dyn(1u) in {1: 2} && !(dyn([1]) in {1: 2})',
      '{"a": 1}.all(k, k == "a") && {"a": 1, "b": 2}.exists(k, v, v == 2 && k == "b") && {"a": 1, "b": 2}.map(k, k).isSorted() && {"a": 1}.filter(k, k == "b") == []',
    ],
  ],
  [
    'a quantity',
    [
      'quantity("1Ki") == quantity("1024") && quantity("1k") != quantity("1024") && isQuantity("1.5Gi") && !isQuantity("1x")',
      '!quantity("1.0").isInteger() && !quantity("1000m").isInteger() && !quantity("0Ei").isInteger() && quantity("1Gi").isInteger() && !quantity("1.5Gi").isInteger() && quantity("007k").isInteger()',
      '!quantity("500m").add(quantity("500m")).isInteger() && quantity("1000m").sub(quantity("1000m")).add(1).isInteger() && !quantity("1.0").sub(1).add(quantity("0Ei")).isInteger() && quantity("9E").add(1).isInteger() && !quantity("9E").add(quantity("9E")).isInteger()',
      'quantity("1").isInteger() && !quantity("100m").isInteger() && quantity("5").asInteger() == 5 && quantity("1500m").asApproximateFloat() == 1.5 && !quantity("10E").isInteger()',
      'quantity("1").add(quantity("2")) == quantity("3") && quantity("1").add(2) == quantity("3") && quantity("3").sub(quantity("1")) == quantity("2") && quantity("3").sub(1) == quantity("2")',
      'quantity("1").isLessThan(quantity("2")) && !quantity("2").isLessThan(quantity("2")) && quantity("2").isGreaterThan(quantity("1")) && !quantity("2").isGreaterThan(quantity("2"))',
      'sign(quantity("-1m")) == -1 && sign(quantity("0")) == 0 && sign(quantity("1Gi")) == 1',
      'quantity("1").compareTo(quantity("2")) == -1 && quantity("2").compareTo(quantity("1")) == 1 && quantity("2").compareTo(quantity("2")) == 0',
    ],
  ],
  [
    'a URL',
    [
      '!isURL("https://h%20/") && !isURL("https://%41/") && isURL("https://%C3%A9/") && !isURL("https://[::1") && !isURL("https://u\\"@h/") && isURL("*") && isURL("//h h/")',
      'isURL("mailto:a@b") && !isURL(":x") && !isURL("1a:/b") && isURL("https://h\\"/") && !isURL("https://[::1]a/") && !isURL("https://[::1%25%41%]/") && isURL("https://[::1%25%41]/") && !isURL("https://[abc]/")',
      'url("HTTPS://u@h:80/a#b?c").getScheme() == "https" && url("HTTPS://u@h:80/a#b?c").getEscapedPath() == "/a" && url("https://h/?a#b").getQuery() == {"a": [""]}',
      'url("//h:8/a").getHost() == "h:8" && url("///h/a").getHost() == "" && url("///h/a").getEscapedPath() == "///h/a" && url("mailto:a@b").getEscapedPath() == ""',
      'url("https://[::1%25e]:8/").getHostname() == "::1%e" && url("https://[::1%25e]:8/").getPort() == "8" && url("https://%C3%A9/").getHost() == "\u00e9"',
      'url("/a%20[b]!").getEscapedPath() == "/a%20[b]!" && url("/a b[%2f]!\u00e9").getEscapedPath() == "/a%20b%5B/%5D%21%C3%A9"',
      'url("/?a=%zz&b=1;c&&d=2%20+3&=4&d").getQuery() == {"d": ["2  3", ""], "": ["4"]}',
      'url("https://h/a") == url("HTTPS://h/a") && url("https://h/a") != url("https://h/a#b") && url("https://u@h/") != url("https://h/") && url("a:b") != url("a:c")',
      'isURL("https://a.dev/x?y=1") && isURL("/x") && !isURL("a.dev") && !isURL("") && !isURL("https://a b/") && !isURL("https://a.dev/%zz") && !isURL("https://a:b/") && !isURL("https://a.dev/\\n")',
      'url("HTTPS://a.dev:80/x").getScheme() == "https" && url("https://a.dev:80/x").getHost() == "a.dev:80" && url("https://a.dev:80/x").getHostname() == "a.dev" && url("https://a.dev:80/x").getPort() == "80"',
      'url("https://u:p@a.dev/x").getHost() == "a.dev" && url("https://[::1]:80/x").getHostname() == "::1" && url("https://[::1]:80/x").getPort() == "80" && url("https://[::1]/x").getPort() == "" && url("/x").getHost() == ""',
      'url("https://a.dev/x y").getEscapedPath() == "/x%20y" && url("https://a.dev/x%20y").getEscapedPath() == "/x%20y" && url("https://a.dev").getEscapedPath() == ""',
      'url("https://a.dev/?a=1&b=2&a=3").getQuery() == {"a": ["1", "3"], "b": ["2"]} && url("/x").getQuery() == {}',
      'url("https://a.dev/x") == url("https://a.dev/x") && url("https://a.dev/x") != url("https://a.dev/y") && url("https://a.dev/x?a") != url("https://a.dev/x?b") && url("https://a.dev/x") != url("http://a.dev/x") && url("https://a.dev/x") != url("https://b.dev/x")',
    ],
  ],
  [
    'a time',
    [
      'timestamp("2026-03-04T05:06:07.089Z").getFullYear() == 2026 && timestamp("2026-03-04T05:06:07.089Z").getMonth() == 2 && timestamp("2026-03-04T05:06:07.089Z").getDate() == 4 && timestamp("2026-03-04T05:06:07.089Z").getDayOfMonth() == 3',
      'timestamp("2026-03-04T05:06:07.089Z").getDayOfWeek() == 3 && timestamp("2026-03-04T05:06:07.089Z").getDayOfYear() == 62 && timestamp("2026-03-04T05:06:07.089Z").getHours() == 5 && timestamp("2026-03-04T05:06:07.089Z").getMinutes() == 6',
      'timestamp("2026-03-04T05:06:07.089Z").getSeconds() == 7 && timestamp("2026-03-04T05:06:07.089Z").getMilliseconds() == 89 && timestamp("1969-12-31T23:59:59.5Z").getMilliseconds() == 500 && timestamp("1969-12-31T23:59:59.5Z").getSeconds() == 59',
      'timestamp("2026-03-04T05:06:07Z").getHours("+01:30") == 6 && timestamp("2026-03-04T05:06:07Z").getMinutes("+01:30") == 36 && timestamp("2026-03-04T05:06:07Z").getHours("-05:30") == 23 && timestamp("2026-03-04T05:06:07Z").getHours("02:00") == 7',
      'timestamp("2026-07-04T05:06:07Z").getHours("Europe/Berlin") == 7 && timestamp("2026-01-04T05:06:07Z").getHours("Europe/Berlin") == 6 && timestamp("2026-01-04T05:06:07Z").getHours("America/New_York") == 0 && timestamp("2026-01-04T05:06:07Z").getHours("UTC") == 5',
      'timestamp("1880-01-01T00:00:00Z").getSeconds("Europe/Berlin") == 28 && timestamp("2026-01-04T05:06:07Z").getMinutes("Asia/Kolkata") == 36',
      'timestamp("2026-01-04T05:06:07Z").getHours("Asia/Kolkata") == 10 && timestamp("2026-03-04T05:06:07Z").getSeconds("+01:30") == 7',
      'duration("90m").getHours() == 1 && duration("90m").getMinutes() == 90 && duration("90m").getSeconds() == 5400 && duration("1s5ms").getMilliseconds() == 1005',
      'timestamp("2026-01-01T00:00:01Z") - timestamp("2026-01-01T00:00:00Z") == duration("1s") && timestamp("2026-01-01T00:00:00Z") + duration("1s") == timestamp("2026-01-01T00:00:01Z") && timestamp("2026-01-01T00:00:00Z") - duration("1s") == timestamp("2025-12-31T23:59:59Z")',
      'duration("1s") + timestamp("2026-01-01T00:00:00Z") == timestamp("2026-01-01T00:00:01Z") && duration("1s") + duration("1s") == duration("2s") && duration("1s") - duration("2s") == duration("-1s")',
      'timestamp("2026-01-01T00:00:00Z") < timestamp("2026-01-01T00:00:00.000000001Z") && duration("1s") > duration("999ms") && timestamp(0) == timestamp("1970-01-01T00:00:00Z") && duration(5) == duration("5ns") && timestamp(1) != timestamp(2) && duration("1s") != duration("2s")',
      'timestamp(0) <= timestamp(0) && timestamp(0) >= timestamp(0) && !(timestamp(0) < timestamp(0)) && !(timestamp(0) > timestamp(0)) && !(duration("2s") <= duration("1s"))',
      'string(timestamp("2026-01-01T00:00:00.10Z")) == "2026-01-01T00:00:00.1Z" && string(duration("1h1.5s")) == "3601.5s" && string(duration("-1ms")) == "-0.001s" && timestamp("0001-01-01T00:00:00Z").getFullYear() == 1 && timestamp("9999-12-31T23:59:59.999999999Z").getFullYear() == 9999',
      'duration("-9223372036854775807ns") - duration("1ns") < duration("0s") && duration("9223372036854775806ns") + duration("1ns") > duration("0s")',
      'duration("1us") == duration("1000ns") && duration("1µs") == duration("1us") && duration("1.5h") == duration("90m") && duration(".5s") == duration("500ms") && duration("0") == duration("0s") && duration("+1s") == duration("1s")',
    ],
  ],
  [
    'a format',
    [
      '"%s %s %s".format(["a", 1, true]) == "a 1 true" && "%%".format([]) == "%" && "%s".format([null]) == "null" && "%s".format([1.5]) == "1.5" && "%s".format([b"abc"]) == "abc"',
      '"%d %d".format([12, 12u]) == "12 12" && "%x %X".format([255, 255]) == "ff FF" && "%x".format(["ab"]) == "6162" && "%x".format([b"\\x01"]) == "01" && "%o".format([8]) == "10" && "%b %b %b".format([5, true, false]) == "101 1 0"',
      '"%f".format([1.5]) == "1.500000" && "%.2f".format([1234567.125]) == "1,234,567.12" && "%.1f".format([0.25]) == "0.2" && "%.1f".format([0.35]) == "0.3" && "%.0f".format([2.5]) == "2" && "%.0f".format([3.5]) == "4" && "%.0f".format([1e21]) == "1,000,000,000,000,000,000,000"',
      '"%f".format([1.0 / 0.0]) == "∞" && "%f".format([-1.0 / 0.0]) == "-∞" && "%f".format(["NaN"]) == "NaN" && "%f".format(["Infinity"]) == "∞" && "%.1f".format([999.95]) == "1,000.0" && "%.1f".format([1e21]) == "1,000,000,000,000,000,000,000.0"',
      '"%e".format([1500.0]) == "1.500000\\u202f×\\u202f10⁰³" && "%e".format([0.00015]) == "1.500000\\u202f×\\u202f10⁻⁰⁴" && "%e".format(["NaN"]) == "NaN" && "%e".format([1e123]) == "1.000000\\u202f×\\u202f10¹²³"',
      '"%.100f".format([0.5]).size() == 102',
      '"%s".format([[1, "a", 1.5]]) == "[1, \\"a\\", 1.500000]" && "%s".format([{"b": 1, "a": 2u}]) == "{\\"a\\":2, \\"b\\":1}" && "%s".format([int]) == "int" && "%s".format([[b"x", null, int]]) == "[b\\"x\\", null, int]"',
      '"%s".format([duration("1.5s")]) == "1.5s" && "%s".format([timestamp(0)]) == "1970-01-01T00:00:00Z" && "%s".format([[duration("1s"), timestamp(0)]]) == "[duration(\\"1s\\"), timestamp(\\"1970-01-01T00:00:00Z\\")]" && "%s".format([[1.0 / 0.0]]) == "[\\"+Inf\\"]"',
    ],
  ],
  [
    'a named format',
    [
      '!format.dns1123Label().validate("a-b").hasValue() && format.dns1123Label().validate("A").hasValue() && format.named("uuid").hasValue() && !format.named("none").hasValue()',
      '!format.dns1123Subdomain().validate("a.b").hasValue() && format.dns1123Subdomain().validate("a..b").hasValue() && !format.dns1035Label().validate("a1").hasValue() && format.dns1035Label().validate("1a").hasValue()',
      '!format.qualifiedName().validate("a.dev/B_c").hasValue() && format.qualifiedName().validate("/a").hasValue() && !format.dns1123LabelPrefix().validate("a-").hasValue() && format.dns1123LabelPrefix().validate("-a").hasValue()',
      '!format.dns1123SubdomainPrefix().validate("a.b-").hasValue() && format.dns1123SubdomainPrefix().validate(".a").hasValue() && !format.dns1035LabelPrefix().validate("a-").hasValue() && format.dns1035LabelPrefix().validate("1").hasValue()',
      '!format.labelValue().validate("").hasValue() && !format.labelValue().validate("A_b.c").hasValue() && format.labelValue().validate("-").hasValue() && !format.uri().validate("https://a.dev").hasValue() && format.uri().validate("a").hasValue()',
      '!format.uuid().validate("123e4567-e89b-12d3-a456-426614174000").hasValue() && format.uuid().validate("1").hasValue() && !format.byte().validate("YQ==").hasValue() && format.byte().validate("!").hasValue()',
      '!format.date().validate("2026-01-01").hasValue() && format.date().validate("2026-13-01").hasValue() && !format.datetime().validate("2026-01-01T00:00:00Z").hasValue() && format.datetime().validate("2026").hasValue()',
      'format.named("date").value() == format.date() && format.date() != format.byte() && format.date().validate("x").value() == ["must be a date"]',
    ],
  ],
])('%s', (_of, expressions) => {
  it.each(expressions)('%s', (text) => {
    const found = run(text)
    expect(found instanceof CelFailure ? found.message : found).toBe(true)
  })
})

describe('there is no value of', () => {
  it.each([
    ['"abc".charAt(4)', 'index out of range: 4'],
    ['"abc".charAt(-1)', 'index out of range: -1'],
    ['"abc".indexOf("a", -1)', 'index out of range: -1'],
    ['"abc".lastIndexOf("a", -1)', 'index out of range: -1'],
    ['"abc".substring(4)', 'index out of range: 4'],
    ['"abc".substring(-1)', 'index out of range: -1'],
    ['"abc".substring(0, 4)', 'index out of range: 4'],
    ['"abc".substring(0, -1)', 'index out of range: -1'],
    ['"abc".substring(2, 1)', 'invalid substring range. start: 2, end: 1'],
    ['"a".matches("(" + "")', 'missing closing )'],
    ['"a".find("(" + "")', 'missing closing )'],
    ['ip("x")', "IP Address 'x' parse error"],
    ['ip.isCanonical("x")', "IP Address 'x' parse error"],
    ['cidr("x")', 'network address parse error'],
    ['cidr("10.0.0.0/8").containsIP("x")', "IP Address 'x' parse error"],
    ['cidr("10.0.0.0/8").containsCIDR("x")', 'network address parse error'],
    ['[1].filter(x, x > 1).min()', 'min called on empty list'],
    ['[1].filter(x, x > 1).max()', 'max called on empty list'],
    ['optional.none().value()', 'optional.none() dereference'],
    ['[9223372036854775807, 1].sum()', 'integer overflow'],
    ['[18446744073709551615u, 1u].sum()', 'unsigned integer overflow'],
    ['9223372036854775807 + 1', 'integer overflow'],
    ['-9223372036854775807 - 2', 'integer overflow'],
    ['9223372036854775807 * 2', 'integer overflow'],
    ['1u - 2u', 'unsigned integer overflow'],
    ['18446744073709551615u + 1u', 'unsigned integer overflow'],
    ['1 / 0', 'division by zero'],
    ['1u / 0u', 'division by zero'],
    ['1 % 0', 'modulus by zero'],
    ['1u % 0u', 'modulus by zero'],
    ['int("x")', "type conversion error from 'string' to 'int': x"],
    ['int("9223372036854775808")', 'integer overflow'],
    ['int(1e19)', 'integer overflow'],
    ['int(9223372036854775808.0)', 'integer overflow'],
    ['int(0.0 / 0.0)', 'integer overflow'],
    ['uint("x")', "type conversion error from 'string' to 'uint': x"],
    ['uint("-1")', "type conversion error from 'string' to 'uint': -1"],
    ['uint(-1)', 'unsigned integer overflow'],
    ['uint(-0.5)', 'unsigned integer overflow'],
    ['uint(1e20)', 'unsigned integer overflow'],
    ['double("x")', "type conversion error from 'string' to 'double': x"],
    ['double("1e400")', "type conversion error from 'string' to 'double': 1e400"],
    ['bool("yes")', "type conversion error from 'string' to 'bool': yes"],
    ['string(b"\\xff")', 'invalid UTF-8 in bytes'],
    ['timestamp("x")', "type conversion error from 'string' to 'google.protobuf.Timestamp': x"],
    ['timestamp(253402300800)', 'timestamp overflow'],
    ['timestamp(-62135596801)', 'timestamp overflow'],
    ['timestamp("9999-12-31T23:59:59Z") + duration("1s")', 'timestamp overflow'],
    ['timestamp("0001-01-01T00:00:00Z") - duration("1ns")', 'timestamp overflow'],
    ['duration("x")', "type conversion error from 'string' to 'google.protobuf.Duration': x"],
    ['duration("2562047h") + duration("1h")', 'integer overflow'],
    ['duration("-2562047h") - duration("1h")', 'integer overflow'],
    ['timestamp(0).getHours("Nowhere/None")', 'unknown time zone Nowhere/None'],
    ['url("x")', 'URL parse error during conversion from string: x'],
    ['quantity("x")', 'quantities must match the regular expression: x'],
    ['quantity("100m").asInteger()', 'cannot convert value to integer'],
    ['{"a": 1}["b"]', 'no such key: b'],
    ['{"a": 1}.b', 'no such key: b'],
    ['[1][1]', 'index out of bounds: 1'],
    ['[1][-1]', 'index out of bounds: -1'],
    ['[1][dyn(0.5)]', 'unsupported index value 0.5 in list'],
    ['[1][dyn("a")]', "unsupported index type 'string' in list"],
    ['"%s".format([])', 'index 0 out of range'],
    ['"%d".format(["a"])', 'decimal clause can only be used on integers, was given string'],
    ['"%f".format([1])', 'fixed-point clause can only be used on doubles, was given int'],
    ['"%e".format([1])', 'scientific clause can only be used on doubles, was given int'],
    ['"%x".format([1.5])', 'only integers, byte buffers, and strings can be formatted as hex, was given double'],
    ['"%o".format(["a"])', 'octal clause can only be used on integers, was given string'],
    ['"%b".format(["a"])', 'only integers and bools can be formatted as binary, was given string'],
    ['"%q".format(["a"])', 'unrecognized formatting clause "q"'],
    ['"%.101f".format([1.5])', 'precision is too large'],
    [
      '"%s".format([b"\\xff"])',
      'could not convert argument "invalid UTF-8 in bytes, cannot convert to string" to string',
    ],
    ['"%s".format([[optional.none()]])', 'string clause can only be used on'],
    ['"%s".format([[b"\\xff"]])', 'string clause can only be used on'],
    ['"%s".format([{"a": optional.none()}])', 'string clause can only be used on'],
    ['"%d".format([ip("1.2.3.4")])', 'was given net.IP'],
    ['duration("9223372036854775807ns") + duration("1ns")', 'integer overflow'],
    ['duration("-9223372036854775807ns") - duration("2ns")', 'integer overflow'],
  ])('%s: %s', (text, message) => {
    const found = run(text)
    expect(found).toBeInstanceOf(CelFailure)
    expect(found instanceof CelFailure && found.message).toContain(message)
  })
})

describe('an error repeats no more than a hundred characters of a text', () => {
  const long = `x${'y'.repeat(149)}`
  it.each([
    [`int("${long}")`],
    [`ip("${long}")`],
    [`cidr("${long}")`],
    [`url("${long}")`],
    [`quantity("${long}")`],
    [`timestamp(0).getHours("${long}")`],
  ])('%s', (text) => {
    const found = run(text)
    const message = found instanceof CelFailure ? found.message.split('\n')[0] : undefined
    expect(/xy+/.exec(message ?? '')?.[0]).toBe(long.slice(0, 100))
  })
})

it.each([
  ['dns1123Label', 63],
  ['dns1123Subdomain', 253],
  ['dns1035Label', 63],
  ['dns1123LabelPrefix', 63],
  ['dns1123SubdomainPrefix', 253],
  ['dns1035LabelPrefix', 63],
  ['labelValue', 63],
])('a text of the format %s has so many characters at most: %d', (format, most) => {
  const fits = (count: number): Result => run(`!format.${format}().validate("${'a'.repeat(count)}").hasValue()`)
  expect([fits(most), fits(most + 1)]).toEqual([true, false])
})

it('the domain ahead of a qualified name has no more characters than both may have together', () => {
  const fits = (domain: number): Result =>
    run(`!format.qualifiedName().validate("${'a'.repeat(domain)}/${'b'.repeat(63)}").hasValue()`)
  expect([fits(253), fits(254)]).toEqual([true, false])
})

it('what is trimmed is the white space of Unicode, each of it', () => {
  const program = compileExpression('t.trim()', { t: plain.string }, { gives: [] })
  if ('fault' in program) throw new Error(program.fault)
  const trimmed = (code: number): boolean => {
    const one = String.fromCharCode(code)
    return program.run([`${one}a${one}`], new Meter(100)) === 'a'
  }
  const spaces = Array.from({ length: 0x3100 }, (_, code) => code).filter((code) =>
    /\p{White_Space}/u.test(String.fromCharCode(code)),
  )
  const around = spaces.flatMap((code) => [code - 1, code, code + 1])
  expect([...new Set(around)].filter(trimmed)).toEqual(spaces)
})
