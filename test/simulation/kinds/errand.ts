import * as z from 'zod'
import {
  ConfigMap,
  defineKind,
  defineReconciler,
  done,
  expectation,
  generationChanged,
  mapped,
  type Controller,
  type ObjectOf,
} from '../../../shared/index.ts'
import type { Life } from '../life.ts'
import type { RunWatcher } from '../runs.ts'

/**
 * An object that keeps notes, expects something in time, and is woken by few changes only: it waits for a ConfigMap to
 * say an even value, or an odd one.
 */
export const Errand = defineKind({
  group: 'simulation.setpoint.dev',
  version: 'v1',
  kind: 'Errand',
  spec: z.object({ value: z.number().int() }),
  status: z.object({ value: z.number().int(), seen: z.string(), answer: z.string() }),
})

type ErrandObject = ObjectOf<typeof Errand>

/** Whether a ConfigMap that says this is what an Errand of that value waits for. */
function isAnswer(said: string | undefined, value: number): boolean {
  return said !== undefined && Math.abs(Number(said) % 2) === Math.abs(value % 2)
}

/** The ConfigMap that an Errand waits for has the number behind its name. */
export function answersOf(errand: string): string {
  return `answers${errand.split('-').at(-1)}`
}

export function errandOf(answers: string): string {
  return `e4-${answers.replace('answers', '')}`
}

export interface ErrandOptions {
  readonly life: Life
  readonly watcher: RunWatcher
  readonly resync: `${number}m` | false
}

export function errandController({ life, watcher, resync }: ErrandOptions): Controller {
  const answered = expectation<ErrandObject>('Answered', {
    within: '90s',
    met: async ({ metadata: { name }, spec }, ctx) => {
      const answers = await ctx.get(ConfigMap, answersOf(name))
      return isAnswer(answers?.data?.['value'], spec.value)
    },
  })

  return defineReconciler(Errand, {
    when: generationChanged,
    watches: [mapped(ConfigMap, ({ metadata: { name } }) => ({ name: errandOf(name) }), { when: generationChanged })],
    resync,
    timeout: '30s',
    reconcile: (errand, ctx) =>
      watcher.run('reconcile', errand, life, async () => {
        const { metadata, spec } = errand
        const told = ctx.notes.get('value')
        const note = { uid: metadata.uid, name: metadata.name, value: spec.value }
        watcher.notes({ ...note, step: 'told', told })
        if (told !== spec.value) {
          ctx.notes.set('value', spec.value)
          ctx.notes.set('answer', 'none')
          // What a run noted may be kept though it ended before it could say what it expects.
          answered.forget(ctx)
          if (spec.value % 2 === 0) {
            await ctx.notes.keep()
            watcher.notes({ ...note, step: 'kept' })
          }
        }
        if (!ctx.expectations.has(answered.name) && ctx.notes.get('answer') !== 'met') answered.set(ctx)
        const answers = await ctx.get(ConfigMap, answersOf(metadata.name))
        const checked = await answered.check(errand, ctx)
        if (checked === 'met') ctx.notes.set('answer', 'met')
        const answer = checked ?? String(ctx.notes.get('answer'))
        return done({ status: { value: spec.value, seen: answers?.data?.['value'] ?? 'nothing', answer } })
      }),
  })
}
