import * as z from 'zod'
import { defineKind, type ObjectOf } from '../../../shared/index.ts'
import type { TestEnv } from '../../../shared/testing/test-env.ts'

/** The kinds that the lists of acceptance are shown on: one that is reconciled, and one that it makes. */
export const Widget = defineKind({
  group: 'test.setpoint.dev',
  version: 'v1',
  kind: 'Widget',
  spec: z.object({ size: z.number().int().default(1), color: z.string().optional() }),
  status: z.object({
    size: z.number().int().optional(),
    phase: z.string().optional(),
    port: z.number().int().optional(),
    message: z.string().optional(),
  }),
})
export type Widget = ObjectOf<typeof Widget>

export const Part = defineKind({
  group: 'test.setpoint.dev',
  version: 'v1',
  kind: 'Part',
  spec: z.object({ of: z.string().optional() }),
  status: z.object({ done: z.boolean().optional() }),
})
export type Part = ObjectOf<typeof Part>

export interface Write {
  readonly call: 'store.create' | 'store.replace' | 'store.remove'
  /** Of `store.replace`. */
  readonly touched: readonly string[]
}

/** The writes of one object that reached the store, in order. */
export function writesOf(env: TestEnv, kind: string, name: string): readonly Write[] {
  return env.calls.flatMap(({ call, args }) => {
    if (call !== 'store.create' && call !== 'store.replace' && call !== 'store.remove') return []
    const { object } = args[0] as {
      readonly object: { readonly kind: string; readonly metadata: { readonly name: string } }
    }
    if (object.kind !== kind || object.metadata.name !== name) return []
    return [{ call, touched: (args[1] as readonly string[] | undefined) ?? [] }]
  })
}

/** What `act` makes be written of one object. */
export async function writesDuring(env: TestEnv, name: string, act: () => Promise<unknown>): Promise<readonly Write[]> {
  const before = writesOf(env, 'Widget', name).length
  await act()
  await env.settle()
  return writesOf(env, 'Widget', name).slice(before)
}

/** Every version of every widget that is written from now on, as a watch tells it; the list grows. */
export async function watchWidgets(env: TestEnv): Promise<readonly Widget[]> {
  const { body } = await env.api({
    method: 'GET',
    path: '/apis/test.setpoint.dev/v1/widgets',
    query: new URLSearchParams({ watch: 'true' }),
    header: () => {},
    fieldsUnder: () => [],
    body: async () => new Uint8Array(),
    signal: new AbortController().signal,
  })
  const seen: Widget[] = []
  const follow = async (): Promise<void> => {
    for await (const lines of body as AsyncIterable<string>)
      for (const line of lines.split('\n').filter((text) => text.trim() !== ''))
        seen.push((JSON.parse(line) as { readonly object: Widget }).object)
  }
  void follow()
  return seen
}
