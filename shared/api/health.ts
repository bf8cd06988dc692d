import type { HttpRequest, HttpResponse } from '../ports/http-handler.ts'
import type { ApiServices } from './call.ts'
import type { PathAnswer } from './path-answer.ts'
import { plainText, withHeader } from './reply.ts'

/** Whether the process answers and takes writes, at the paths and in the words of Kubernetes' `healthz`. */
export interface Health {
  /** Open to all: whether the process is well is no secret. By path. */
  readonly open: ReadonlyMap<string, PathAnswer>
  /** One check each, for who may ask. By path. */
  readonly checks: ReadonlyMap<string, PathAnswer>
}

interface Check {
  readonly name: string
  readonly holds: () => Promise<boolean>
  /** Why it does not hold, where that is known. */
  readonly why?: (() => string | undefined) | undefined
}

export function createHealth({
  isReady = async () => true,
  whyNotReady,
}: Pick<ApiServices, 'isReady' | 'whyNotReady'>): Health {
  const ping: Check = { name: 'ping', holds: async () => true }
  // Who restarts a process that is alive gains nothing; who sends it no writes while it takes none does.
  const writes: Check = { name: 'writes', holds: isReady, why: whyNotReady }
  const roots: readonly (readonly [string, readonly Check[]])[] = [
    ['healthz', [ping]],
    ['livez', [ping]],
    ['readyz', [ping, writes]],
  ]
  return {
    open: new Map(roots.map(([root, checks]) => [`/${root}`, (request) => answerAll(root, checks, request)])),
    checks: new Map(
      roots.flatMap(([root, checks]) => checks.map((check) => [`/${root}/${check.name}`, () => answerOne(check)])),
    ),
  }
}

async function answerAll(root: string, checks: readonly Check[], { query }: HttpRequest): Promise<HttpResponse> {
  const excluded = query.getAll('exclude')
  const lines: string[] = []
  let isWell = true
  for (const check of checks) {
    const { name, holds } = check
    const isLeftOut = excluded.includes(name)
    const isGood = isLeftOut || (await holds())
    isWell &&= isGood
    lines.push(isLeftOut ? `[+]${name} excluded: ok` : isGood ? `[+]${name} ok` : `[-]${failureOf(check)}`)
  }
  const unknown = excluded.filter((name) => !checks.some((check) => check.name === name))
  if (unknown.length > 0) {
    const names = unknown.map((name) => JSON.stringify(name)).join(',')
    lines.push(`warn: some health checks cannot be excluded: no matches for ${names}`)
  }
  if (!isWell) return unwell([...lines, `${root} check failed`].join('\n'))
  return plainText(200, query.has('verbose') ? `${lines.join('\n')}\n${root} check passed\n` : 'ok')
}

async function answerOne(check: Check): Promise<HttpResponse> {
  return (await check.holds()) ? plainText(200, 'ok') : unwell(failureOf(check))
}

function failureOf({ name, why }: Check): string {
  return `${name} failed: ${why?.() ?? 'not taken'}`
}

function unwell(text: string): HttpResponse {
  return withHeader(plainText(503, text), 'retry-after', '1')
}
