import { appendFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import {
  again,
  ConfigMap,
  defineKind,
  defineReconciler,
  done,
  type Controller,
  type ObjectOf,
} from '../../shared/index.ts'
import type { RunEdge } from './run-log.ts'

export const Item = defineKind({
  group: 'chaos.setpoint.dev',
  version: 'v1',
  kind: 'Item',
  spec: z.object({ value: z.number().int() }),
  status: z.object({ value: z.number().int(), prepared: z.number().int() }),
})

type ItemObject = ObjectOf<typeof Item>

/** Where the reconciler of a data directory keeps what it wrote down, and what it made outside. */
export function outsideOf(dataDirectory: string): { readonly runLog: string; readonly files: string } {
  return { runLog: join(dataDirectory, 'runs.jsonl'), files: join(dataDirectory, 'files') }
}

/**
 * A reconciler that does a bit of everything and notes when each run begins and ends: it fails now and then, waits in
 * the middle, has a child in the store, and a file outside of it, named by the object's uid, that only cleanup removes,
 * in two runs.
 */
export function recordingReconciler(dataDirectory: string): Controller {
  const { runLog, files } = outsideOf(dataDirectory)
  mkdirSync(files, { recursive: true })
  const note = ({ metadata: { name, uid, generation } }: ItemObject, edge: RunEdge): void =>
    appendFileSync(runLog, `${JSON.stringify({ name, uid, generation, pid: process.pid, ...edge })}\n`)

  return defineReconciler(Item, {
    owns: [ConfigMap],
    concurrency: 16,

    reconcile: async (item, ctx) => {
      const { value } = item.spec
      const file = join(files, item.metadata.uid)
      note(item, { phase: 'reconcile', edge: 'start' })
      try {
        await ctx.sleep(`${value % 20}ms`)
        if (value % 7 === 0 && ctx.attempt === 0) throw new Error(`${value} takes two attempts`)
        writeFileSync(file, String(value))
        await ctx.apply(ConfigMap, { metadata: { name: item.metadata.name }, data: { value: String(value) } })
        const before = { prepared: value, value: item.status?.value ?? 0 }
        if (value % 5 === 0 && item.status?.prepared !== value) return again('100ms', { status: before })
        return done({ status: { prepared: value, value } })
      } finally {
        note(item, { phase: 'reconcile', edge: 'end' })
      }
    },

    cleanup: async (item, ctx) => {
      const file = join(files, item.metadata.uid)
      note(item, { phase: 'cleanup', edge: 'start' })
      await ctx.sleep('10ms')
      const isClean = !existsSync(file)
      rmSync(file, { force: true })
      note(item, { phase: 'cleanup', edge: 'end', isDone: isClean })
      return isClean ? done() : again('50ms')
    },
  })
}
