import * as z from 'zod'
import { defineExternal, defineKind, externalStatus, type Controller, type JsonObject } from '../../../shared/index.ts'
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

export interface ParcelOptions {
  readonly life: Life
  readonly outside: OutsideClient
  readonly watcher: RunWatcher
}

export function parcelController({ life, outside, watcher }: ParcelOptions): Controller {
  const look = async (id: string): Promise<JsonObject | undefined> => {
    const value = await outside.observe(id)
    return value === undefined ? undefined : { id, owner: id, value }
  }
  const put = async (id: string, declared: JsonObject): Promise<JsonObject> => {
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
      delete: (_, id) => outside.remove(id),
      idOf: ({ id }) => String(id),
      ownerOf: ({ owner }) => String(owner),
      markedIn: ['owner'],
      createsOncePerToken: true,
    },
    timeout: '30s',
  })
  return watched(controller, watcher, life)
}
