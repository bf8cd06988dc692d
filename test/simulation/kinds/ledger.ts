import * as z from 'zod'
import {
  ConfigMap,
  defineKind,
  defineReconciler,
  done,
  mapped,
  type ApiObject,
  type ConfigMapObject,
  type Controller,
} from '../../../shared/index.ts'
import type { Life } from '../life.ts'
import type { RunWatcher } from '../runs.ts'

/** An object that shows the ConfigMaps which name it. Whom one names changes. */
export const Ledger = defineKind({
  group: 'simulation.setpoint.dev',
  version: 'v1',
  kind: 'Ledger',
  spec: z.object({ value: z.number().int() }),
  status: z.object({ seen: z.string(), audit: z.string().optional() }),
})

/** A ConfigMap, as the store has it or a reconciler. */
type Entry = ApiObject | ConfigMapObject

/** Whether a ConfigMap of this name is one that names a Ledger. */
export function isEntry(name: string): boolean {
  return name.startsWith('entry')
}

/** The Ledger that a ConfigMap names. */
export function namedBy(entry: Entry): string | undefined {
  return dataOf(entry)['for']
}

/** What a Ledger shows of all ConfigMaps. */
export function countFor(ledger: string, all: readonly Entry[]): string {
  const own = all.filter((entry) => namedBy(entry) === ledger)
  return own
    .map((entry) => `${entry.metadata.name} ${dataOf(entry)['value']}`)
    .toSorted()
    .join()
}

function dataOf(entry: Entry): Readonly<Record<string, string>> {
  return (entry as ConfigMapObject).data ?? {}
}

export interface LedgerOptions {
  readonly life: Life
  readonly watcher: RunWatcher
  readonly resync: `${number}m` | false
}

export function ledgerController({ life, watcher, resync }: LedgerOptions): Controller {
  return defineReconciler(Ledger, {
    watches: [mapped(ConfigMap, toNamed)],
    resync,
    timeout: '30s',
    reconcile: (ledger, ctx) =>
      watcher.run('reconcile', ledger, life, async () => {
        const all = await ctx.list(ConfigMap)
        return done({ status: { seen: countFor(ledger.metadata.name, all) } })
      }),
  })
}

function toNamed(entry: ConfigMapObject): { readonly name: string } | undefined {
  const name = namedBy(entry)
  return name === undefined ? undefined : { name }
}
