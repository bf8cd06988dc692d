import { requestText, type Target } from './connection.ts'
import { gadgetText } from './gadget.ts'
import type { Cell, Verb } from './messages.ts'

/** How many keys are updated in turn if the cell does not say. */
const keysUsual = 1_000
export const collection = '/apis/bench.setpoint.dev/v1/namespaces/default/gadgets'

let revision = 1_000_000_000

export interface Change {
  /** Of the object. */
  readonly name: string
  /** The request as it goes over the wire. */
  readonly text: string
  /** Whoever comes next may have the key. */
  release(): void
}

/**
 * The changes of a cell, one after the other: new keys without end, or the keys there are in turn, each when it is
 * free.
 */
export function changesOf({ verb, prefix, keys = keysUsual }: Cell, target: Target): () => Change {
  if (verb === 'create') return creations(prefix, target)
  const free = Array.from({ length: keys }, (_, number) => requestOf(verb, target, keyOf(prefix, number)))
  let taken = 0
  let put = 0
  return () => {
    const request = free[taken++ % keys] as RequestAround
    return { name: request.name, text: textOf(request), release: () => void (free[put++ % keys] = request) }
  }
}

function creations(prefix: string, target: Target): () => Change {
  let made = 0
  return () => {
    const request = requestOf('create', target, keyOf(prefix, made++))
    return { name: request.name, text: textOf(request), release: () => {} }
  }
}

function textOf({ head, tail }: RequestAround): string {
  return `${head}${revision++}${tail}`
}

interface Key {
  readonly name: string
  readonly number: number
}

function keyOf(prefix: string, number: number): Key {
  return { name: `${prefix}-${String(number).padStart(6, '0')}`, number }
}

/** The whole object in every request: the servers have the same JSON to read. */
function requestOf(verb: Verb, target: Target, { name, number }: Key): RequestAround {
  const body = gadgetText(name, number)
  const text = requestText(target, { ...verbs[verb](name), body: `${body.head}${revision}${body.tail}` })
  return { name, head: text.slice(0, text.length - body.tail.length - String(revision).length), tail: body.tail }
}

/** A request as it goes over the wire, before and behind its revision. */
interface RequestAround {
  readonly name: string
  readonly head: string
  readonly tail: string
}

const verbs = {
  create: () => ({ method: 'POST', path: collection, type: 'application/json' }),
  update: (name: string) => ({ method: 'PATCH', path: `${collection}/${name}`, type: 'application/merge-patch+json' }),
  echo: () => ({ method: 'POST', path: '/echo', type: 'application/json' }),
}
