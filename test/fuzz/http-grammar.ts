import fc from 'fast-check'

/** Bytes that a client may send over one connection, one character a byte, in the pieces that packets make of them. */
export interface Traffic {
  readonly text: string
  readonly pieces: readonly string[]
}

/** Requests that are right, nearly right and hostile, up to three, cut anywhere. */
export function traffic(): fc.Arbitrary<Traffic> {
  return fc
    .record({
      messages: fc.array(message(), { minLength: 1, maxLength: 3 }),
      cuts: fc.array(fc.nat(600), { maxLength: 6 }),
      isDripped: sometimes(10),
    })
    .map(({ messages, cuts, isDripped }) => {
      const text = messages.join('')
      return { text, pieces: isDripped ? text.split('') : cutAt(text, cuts) }
    })
}

function cutAt(text: string, cuts: readonly number[]): readonly string[] {
  const inside = cuts.filter((cut) => cut > 0 && cut < text.length).toSorted((a, b) => a - b)
  return [0, ...inside].map((from, i) => text.slice(from, inside[i] ?? text.length)).filter((piece) => piece !== '')
}

/** True once in so many times. */
function sometimes(times: number): fc.Arbitrary<boolean> {
  return fc.nat(times - 1).map((n) => n === 0)
}

/** What is usual in most cases, and what is not in the others. */
function mostly(usual: readonly string[], odd: readonly string[], weight = 8): fc.Arbitrary<string> {
  return fc.oneof({ weight, arbitrary: fc.constantFrom(...usual) }, { weight: 1, arbitrary: fc.constantFrom(...odd) })
}

function message(): fc.Arbitrary<string> {
  return fc
    .record({
      lead: mostly([''], ['\r\n', '\n', '\r', ' ', '0\r\n\r\n'], 20),
      line: line(),
      fields: fields(),
      body: body(),
    })
    .chain(({ lead, line: first, fields: others, body: { field, text } }) =>
      fc
        .record({
          end: mostly(['\r\n'], ['\n', '\r', ' \r\n'], 40),
          wrong: fc.option(mutation(), { freq: 6, nil: undefined }),
        })
        .map(({ end, wrong }) => {
          const head = [first, ...others, ...field].join(end)
          const whole = `${lead}${head}${end}${end}${text}`
          return wrong === undefined ? whole : wrong(whole)
        }),
    )
}

/** One byte that is too much, too few or another, somewhere. */
function mutation(): fc.Arbitrary<(text: string) => string> {
  return fc
    .record({ at: fc.nat(400), byte: fc.constantFrom(...hostileBytes), cut: fc.constantFrom(0, 1, 2) })
    .map(({ at, byte, cut }) => (text: string) => {
      const start = at % (text.length + 1)
      return text.slice(0, start) + (cut === 2 ? '' : byte) + text.slice(start + (cut === 0 ? 0 : 1))
    })
}

const hostileBytes = [
  '\0',
  '\t',
  '\n',
  '\r',
  ' ',
  '\x0b',
  '\x7f',
  '\x80',
  '\xff',
  ':',
  ',',
  ';',
  '"',
  '\\',
  '0',
  'f',
  'H',
]

function line(): fc.Arbitrary<string> {
  return fc
    .tuple(
      mostly(
        ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'QUERY', 'M-SEARCH'],
        ['get', 'GETS', 'CONNECT', 'PRI', ''],
      ),
      mostly(
        ['/', '/a/b?c=d&e=%20', '/a%2Fb', '*', 'http://h/p?q', '//', '/%zz', '/"<>\\^`{|}', '/?'],
        ['', 'x', '/a b', '/#f', '/\xe9', 'h:443', '/\t', '?', 'a://', '\\'],
      ),
      mostly(
        ['HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0'],
        ['HTTP/1.2', 'HTTP/2.0', 'HTTP/0.9', 'http/1.1', 'HTTP/1.1 ', 'HTTP/1.10', 'HTTP/01.1', ''],
        12,
      ),
      mostly([' '], ['  ', '\t', ''], 30),
    )
    .map(([method, target, version, space]) => `${method}${space}${target}${space}${version}`)
}

function fields(): fc.Arbitrary<readonly string[]> {
  const host = fc.constantFrom('Host: x', 'host:y ')
  const hosts = fc.oneof(
    { weight: 20, arbitrary: host.map((one) => [one]) },
    { weight: 1, arbitrary: fc.array(host, { maxLength: 2 }) },
  )
  const others = fc.array(mostly(goodFields, oddFields, 5), { maxLength: 4 })
  const counts = fc.oneof(
    { weight: 100, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.constantFrom(150, 300, 3_000) },
  )
  return fc
    .tuple(hosts, others, counts)
    .map(([first, rest, count]) => [...first, ...rest, ...Array.from({ length: count }, () => 'n:')])
}

const goodFields = [
  'X-A: b',
  'x-a:  c \t',
  'Accept: */*',
  'Authorization: Bearer t',
  'authorization: second',
  'Cookie: a=1',
  'COOKIE: b=2',
  'Connection: keep-alive',
  'Connection: close',
  'Connection: x ,Close',
  'Content-Type: application/json',
  'Empty:',
  "Odd!#$%&'*+-.^_`|~: y",
  'Wide: \xe9\xff\x80',
  'Colons: a:b::',
  'Expect: 100-continue',
  'Te: trailers',
  'Keep-Alive: timeout=5',
]

const oddFields = [
  'X : y',
  ' folded',
  '\tfolded',
  'X\t: y',
  'NoColon',
  ': nameless',
  'N\0: x',
  'X: \0',
  'X: a\rb',
  'X: a\nY: b',
  'X: \x7f',
  'X: \x0b',
  '\xe9: y',
  'X y: z',
  'Expect: tea',
  'Expect: 100-continue, tea',
  'Content-Length: 3',
  'Content-Length: 3 ',
  'Content-Length: +3',
  'Content-Length: -3',
  'Content-Length: 3, 3',
  'Content-Length: 0x3',
  'Content-Length: 3 3',
  'Content-Length:',
  'Content-Length: 18446744073709551617',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding:\tCHUNKED ',
  'Transfer-Encoding: gzip',
  'Transfer-Encoding: gzip, chunked',
  'Transfer-Encoding: chunked, identity',
  'Transfer-Encoding: chunked, chunked',
  'Transfer-Encoding: xchunked',
  'Transfer-Encoding: chunked;q=1',
  'Transfer-Encoding:',
  'Transfer-Encoding : chunked',
  'Trailer: x',
  'Upgrade: h2c',
  'Connection: Upgrade',
  'Proxy-Connection: close',
]

interface Body {
  /** The field that says how it is sent; none for no body. */
  readonly field: readonly string[]
  readonly text: string
}

function body(): fc.Arbitrary<Body> {
  const content = fc.constantFrom('', 'a', 'abc', '0\r\n\r\n', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n', '\r\n', 'é\0\xff')
  const withLength = fc.tuple(content, fc.constantFrom(0, 0, 0, 0, 0, -1, 1, 20)).map(([text, off]): Body => {
    const length = Math.max(text.length + off, 0)
    return { field: [`Content-Length: ${length}`], text }
  })
  const inChunks = chunks().map((text): Body => ({ field: ['Transfer-Encoding: chunked'], text }))
  return fc.oneof(fc.constant<Body>({ field: [], text: '' }), withLength, inChunks)
}

function chunks(): fc.Arbitrary<string> {
  const size = mostly(['3', '03', '000003', '3;a', '3;a=b', '3;a="b;\\"c"', '3;a;b=c'], oddSizes, 12)
  const chunk = fc.tuple(
    size,
    mostly(['\r\n'], ['\n', '\r'], 40),
    mostly(['abc', '\r\n\0'], ['abcd', 'ab'], 20),
    mostly(['\r\n'], ['\n', '\r', ''], 40),
  )
  const last = mostly(['0\r\n', '00\r\n', '0;a\r\n'], ['0\n', '-0\r\n', '0 \r\n', ''], 20)
  const trailers = mostly(
    ['', 'T: t\r\n', 'Host: z\r\n'],
    ['Content-Length: 9\r\n', 'transfer-encoding: chunked\r\n', 'T : t\r\n', ' t\r\n', 'T\r\n', 'T: \0\r\n', 'T: t\n'],
    10,
  )
  return fc
    .tuple(fc.array(chunk, { maxLength: 3 }), last, trailers, mostly(['\r\n'], ['\n', '\r', ''], 40))
    .map(([all, zero, behind, end]) => all.map((parts) => parts.join('')).join('') + zero + behind + end)
}

const oddSizes = [
  '',
  'g',
  '+3',
  '-3',
  '0x3',
  ' 3',
  '3 ',
  '3\t',
  '3;',
  '3;a=',
  '3; a=b',
  '3;a="b',
  '3;=b',
  '3,',
  '3_',
  '3:',
  '10000000000000000',
  'fffffffffffffff3',
]
