import * as z from 'zod'
import { expect, it } from 'vitest'
import { defineExternal, defineKind, externalStatus, type ExternalApi } from '../../../../shared/index.ts'

const Box = defineKind({
  group: 'example.dev',
  version: 'v1',
  kind: 'Box',
  spec: z.object({ size: z.number() }),
  status: externalStatus,
})

async function nothing(): Promise<undefined> {}

const api: ExternalApi<undefined> = {
  get: nothing,
  find: nothing,
  create: async (_, declared) => declared,
  update: async (_, __, declared) => declared,
  delete: async () => {},
  idOf: ({ id }) => String(id),
}

function define(boxes: ExternalApi<undefined>): unknown {
  return defineExternal(Box, { connect: nothing, declared: ({ spec }) => ({ ...spec }), api: boxes })
}

it('refuses a way to find entities without a way to tell whose they are', () => {
  expect(() => define(api)).toThrow("Box: api.find needs api.ownerOf, which reads the owner's uid from an entity")
  expect(() => define({ ...api, ownerOf: ({ owner }) => String(owner) })).not.toThrow()
  const { find, ...unfound } = api
  expect(find).toBeDefined()
  expect(() => define(unfound)).not.toThrow()
})
