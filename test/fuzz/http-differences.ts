import { isDeepStrictEqual } from 'node:util'
import type { NodeHead, Outcome, Pair } from './http-pair.ts'

/** Where the lean server answers otherwise than node:http, on purpose. */
export interface Difference {
  readonly name: string
  /** Traffic that shows it. */
  readonly example: string
  /** Whether this is why the outcomes part at the response of that index. */
  explains(pair: Pair, at: number): boolean
}

/** The table of decision 24, in full. */
export const differences: readonly Difference[] = [
  refused('two Host fields', get('Host: y\r\n'), ({ fields }) => valuesOf(fields, 'host').length > 1),
  refused('a version that is neither 1.0 nor 1.1', 'GET / HTTP/2.0\r\nHost: x\r\n\r\n', ({ version }) =>
    ['0.9', '2.0'].includes(version),
  ),
  refused(
    'a target with what no target may hold',
    'GET /#x HTTP/1.1\r\nHost: x\r\n\r\n',
    ({ target }) => !/^(?:\/[!"$-~]*|\*|[a-z]+:\/\/[!"$-~]*)$/i.test(target),
  ),
  refused('more than 200 fields', get('n:\r\n'.repeat(200)), ({ fields }) => fields.length > 2 * 200),
  refused(
    'another coding than chunked, alone, in HTTP/1.1',
    `${post('Transfer-Encoding: gzip, chunked')}0\r\n\r\n`,
    (head) => {
      const codings = valuesOf(head.fields, 'transfer-encoding')
      return codings.length > 0 && (head.version === '1.0' || codings.join().toLowerCase() !== 'chunked')
    },
  ),
  refused('a length of more than 15 digits', post(`Content-Length: ${'9'.repeat(16)}`), ({ fields }) =>
    /\d{16}/.test(valuesOf(fields, 'content-length').join()),
  ),
  refused('a chunk of more than 13 digits', `${post('Transfer-Encoding: chunked')}1${'0'.repeat(13)}\r\n`, (_, text) =>
    /^[1-9a-f][0-9a-f]{13,}\r/im.test(text),
  ),
  refused(
    'a chunk extension that is neither a name nor a name with a value',
    `${post('Transfer-Encoding: chunked')}1;a=\r\nx\r\n0\r\n\r\n`,
    (_, text) => [...text.matchAll(/^[0-9a-f]+(;.*)\r/gim)].some(([, extensions = '']) => !extension.test(extensions)),
  ),
  refused('more than one space in the request line', 'GET  / HTTP/1.1\r\nHost: x\r\n\r\n', (_, text) =>
    / {2,}/.test(text),
  ),
  refused(
    'a CR or LF alone ahead of the request line',
    `\n${get()}`,
    // Or a body took the other one of the two.
    (_, text, bodies) => /\r(?!\n)|(?<!\r)\n/.test(text) || bodies.some((body) => body.endsWith('\r')),
  ),
  refused(
    'a body behind an upgrade that is not made',
    `${get('Connection: Upgrade\r\nUpgrade: h2c\r\nTransfer-Encoding: chunked\r\n')}x`,
    ({ fields }) => valuesOf(fields, 'upgrade').length > 0,
  ),
  {
    name: 'a tunnel',
    example: 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n',
    explains: ({ text, lean, node }) => text.includes('CONNECT ') && isRefused(lean) && node.isEnded,
  },
  {
    name: 'an expectation that is not 100-continue alone',
    example: get('Expect: 100-continue, tea\r\n'),
    explains: ({ lean, node }, at) =>
      lean.statuses[at] === 417 && valuesOf(fieldsOf(node, at), 'expect').join().toLowerCase() !== '100-continue',
  },
  {
    name: 'a connection that is to be both closed and kept, in HTTP/1.0',
    example: 'GET / HTTP/1.0\r\nConnection: keep-alive\r\nConnection: close\r\n\r\n',
    explains: ({ lean, node }, at) => {
      const options = valuesOf(fieldsOf(node, at - 1), 'connection')
        .join()
        .toLowerCase()
      return lean.isEnded && lean.statuses.length === at && options.includes('close') && options.includes('keep-alive')
    },
  },
  {
    name: 'a tab behind a coding or a length, which is no part of it',
    example: `${post('Transfer-Encoding: chunked\t')}0\r\n\r\n`,
    explains: ({ text, node }) => node.isEnded && /^(?:transfer-encoding|content-length):[^\r\n]*\t *\r/im.test(text),
  },
  {
    name: 'Proxy-Connection, which is for proxies',
    example: get('Proxy-Connection: close\r\n'),
    explains: ({ node }, at) =>
      node.isEnded && node.statuses.length === at && valuesOf(fieldsOf(node, at - 1), 'proxy-connection').length > 0,
  },
]

const extension = /^(?:;[^\s;="]+(?:=(?:[^\s;="]+|"(?:[^"\\]|\\.)*"))?)*$/

function get(fields = ''): string {
  return `GET / HTTP/1.1\r\nHost: x\r\n${fields}\r\n`
}

function post(field: string): string {
  return `POST / HTTP/1.1\r\nHost: x\r\n${field}\r\n\r\n`
}

/**
 * The lean server refuses what node:http takes, or waits for: the reason is in its head, in the text, or in a body
 * ahead.
 */
function refused(
  name: string,
  example: string,
  isReason: (head: NodeHead, text: string, bodies: readonly string[]) => boolean,
): Difference {
  return {
    name,
    example,
    explains: ({ text, lean, node }, at) => {
      const bodies = node.seen.map(({ body }) => body)
      return isRefused(lean) && lean.statuses.length === at + 1 && isReason(node.heads[at] ?? noHead, text, bodies)
    },
  }
}

const noHead: NodeHead = { version: '1.1', target: '/', fields: [] }

function isRefused({ statuses, isEnded }: Outcome): boolean {
  return isEnded && (statuses.at(-1) ?? 0) >= 400
}

function fieldsOf({ heads }: Pair['node'], at: number): readonly string[] {
  return heads[at]?.fields ?? []
}

function valuesOf(fields: readonly string[], name: string): readonly string[] {
  return fields.filter((_, i) => i % 2 === 1 && fields[i - 1] === name)
}

/**
 * Undefined if both did the same: requests, classes of statuses, end. Otherwise what explains it, or `unexplained`.
 */
export function differenceOf(pair: Pair): string | undefined {
  const { lean, node } = pair
  const [own, theirs] = [classesOf(lean), classesOf(node)]
  const found = own.findIndex((one, i) => one !== theirs[i])
  const parts = found < 0 ? own.length : found
  // Up to where they part, they have the same requests.
  const count = own.slice(0, parts).filter((one) => one === 2).length
  if (!isDeepStrictEqual(lean.seen.slice(0, count), node.seen.slice(0, count))) return unexplained
  if (found < 0) {
    if (own.length === theirs.length && lean.isEnded === node.isEnded) return undefined
    // Both refuse it, and node:http goes on after 417.
    if (own.at(-1) === 4 && lean.isEnded) return undefined
  }
  return differences.find((one) => one.explains(pair, parts))?.name ?? unexplained
}

export const unexplained = 'unexplained'

function classesOf({ statuses }: Outcome): readonly number[] {
  return statuses.map((status) => Math.floor(status / 100))
}
