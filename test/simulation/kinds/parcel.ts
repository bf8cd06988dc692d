import * as z from 'zod'
import {
  ConfigMap,
  createRateBudget,
  defineExternal,
  defineKind,
  externalStatus,
  requires,
  type Controller,
  type JsonObject,
} from '../../../shared/index.ts'
import type { Life } from '../life.ts'
import type { OutsideClient } from '../outside.ts'
import type { RunWatcher } from '../runs.ts'
import { watched } from './watched.ts'

/** An entity in the system outside, kept by the helper for such kinds. */
export const Parcel = defineKind({
  group: 'simulation.setpoint.dev',
  version: 'v1',
  kind: 'Parcel',
  spec: z.object({ value: z.number().int() }),
  status: externalStatus,
})

/** What Parcels have beside, in some seeds. */
export interface ParcelExtras {
  /** Each process may call what is outside so often. */
  readonly budget?: { readonly perSecond: number; readonly burst: number }
  /** What is outside is told in a Secret. */
  readonly outputs?: true
  /** Nothing is done outside without this ConfigMap. */
  readonly licensed?: true
}

export const licenseName = 'license'

/** What was there before, and is marked for nobody. */
export function isFoundOutside(id: string): boolean {
  return id.startsWith('found')
}

export interface ParcelOptions {
  readonly life: Life
  readonly outside: OutsideClient
  readonly watcher: RunWatcher
  readonly extras: ParcelExtras
}

export function parcelController({ life, outside, watcher, extras }: ParcelOptions): Controller {
  const budget = extras.budget && createRateBudget(extras.budget)
  const look = async (id: string): Promise<JsonObject | undefined> => {
    watcher.called(life)
    const value = await outside.observe(id)
    if (value === undefined) return undefined
    return isFoundOutside(id) ? { id, value } : { id, owner: id, value }
  }
  const put = async (id: string, declared: JsonObject): Promise<JsonObject> => {
    watcher.called(life)
    await outside.put(id, Number(declared['value']))
    return { id, ...declared }
  }
  const controller = defineExternal(Parcel, {
    connect: async () => outside,
    declared: ({ spec }, { owner }) => ({ value: spec.value, owner: owner.uid }),
    api: {
      get: (_, id) => look(id),
      find: (_, { uid }) => look(uid),
      create: (_, declared, { uid }) => put(uid, declared),
      update: (_, id, declared) => put(id, declared),
      delete: (_, id) => {
        watcher.called(life)
        return outside.remove(id)
      },
      idOf: ({ id }) => String(id),
      ownerOf: ({ owner }) => (owner === undefined ? undefined : String(owner)),
      markedIn: ['owner'],
      createsOncePerToken: true,
    },
    ...(budget && { budget: () => budget }),
    ...(extras.licensed && { references: { license: requires(ConfigMap, () => ({ name: licenseName })) } }),
    ...(extras.outputs && {
      outputs: { name: ({ metadata: { name } }) => outputsOf(name), data: ({ value }) => ({ value: String(value) }) },
    }),
    timeout: '30s',
  })
  return watched(controller, watcher, life)
}

/** The Secret that shows what is outside of a Parcel. */
export function outputsOf(parcel: string): string {
  return `${parcel}-out`
}
