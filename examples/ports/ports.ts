import * as z from 'zod'
import {
  ConfigMap,
  defineKind,
  defineReconciler,
  done,
  modify,
  stop,
  type Context,
  type Controller,
  type ObjectOf,
} from 'setpoint'

export const Listener = defineKind({
  group: 'example.dev',
  version: 'v1',
  kind: 'Listener',
  spec: z.object({ protocol: z.enum(['tcp', 'udp']).default('tcp') }),
  status: z.object({ port: z.number().int() }),
  columns: [{ name: 'Port', type: 'integer', jsonPath: '.status.port' }],
})
export type Listener = ObjectOf<typeof Listener>

const first = 20_000
const last = 20_999

export const listeners: Controller = defineReconciler(Listener, {
  grants: [{ kind: ConfigMap, access: 'write' }],
  async reconcile(listener, ctx) {
    return done({ status: { port: await claimedPort(listener, ctx) } })
  },

  async cleanup({ metadata: { uid } }, ctx) {
    await modify(ctx, {
      kind: ConfigMap,
      at: 'ports',
      change: ({ data }) => {
        const port = portOf(uid, data)
        return port === undefined ? undefined : { data: { [port]: null } }
      },
    })
    return done()
  },
})

/** The port of this listener, claimed in the one ConfigMap that says which port is whose. */
async function claimedPort({ metadata: { uid } }: Listener, ctx: Context): Promise<number> {
  const pool = await modify(ctx, {
    kind: ConfigMap,
    at: 'ports',
    change: ({ data }) => (portOf(uid, data) === undefined ? { data: { [freePort(data)]: uid } } : undefined),
  })
  const port = portOf(uid, pool?.data)
  if (port === undefined) throw stop('NoPool', 'there is no ConfigMap ports in this namespace')
  return port
}

type Pool = Readonly<Record<string, string>> | undefined

function portOf(uid: string, pool: Pool = {}): number | undefined {
  const claim = Object.entries(pool).find(([, holder]) => holder === uid)
  return claim === undefined ? undefined : Number(claim[0])
}

function freePort(pool: Pool = {}): number {
  for (let port = first; port <= last; port++) if (!(port in pool)) return port
  throw stop('NoPortLeft', `the ports ${first} to ${last} are all taken`)
}
