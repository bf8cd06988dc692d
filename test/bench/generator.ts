import { changesOf, collection, type Change } from './changes.ts'
import { connect, type Connection, type Reply } from './connection.ts'
import type { Cell, CellResult, Order, Ready } from './messages.ts'
import { startMeter } from './meter.ts'
import { quantiles } from './quantiles.ts'
import { watchGenerations, type Generations } from './watched-generations.ts'

/** The load, as a process of its own: does what its parent orders, one cell after the other, and keeps watching. */

interface Loaded {
  readonly target: Ready
  /** What the watch has seen; a target that only echoes has none. */
  readonly generations: Generations | undefined
}

const servers = new Map<string, Loaded>()

process.on('message', (order: Order) => {
  const work = order.kind === 'connect' ? connectTo(order) : measure(order)
  work.then(
    (answer) => process.send?.(answer ?? {}),
    (error: unknown) => {
      console.error(error)
      process.exit(1)
    },
  )
})
process.once('disconnect', () => process.exit(0))

async function connectTo({ server, ready, watch }: Extract<Order, { kind: 'connect' }>): Promise<void> {
  servers.set(server, {
    target: ready,
    generations: watch ? await watchGenerations(ready, collection) : undefined,
  })
}

async function measure(cell: Cell): Promise<CellResult> {
  const { target, generations } = servers.get(cell.server) as Loaded
  // Made anew for each cell, ahead of its time: a server ends what is idle for five seconds.
  const connections = await Promise.all(Array.from({ length: cell.clients }, () => connect(target)))
  const next = changesOf(cell, target)
  const samples: Sample[] = []
  let changesLeft = cell.changesMax ?? Infinity
  generations?.resetBatches()
  const meter = startMeter(target.pid)
  const endMs = performance.now() + cell.durationMs
  await Promise.all(
    connections.map(async (connection) => {
      while (performance.now() < endMs && changesLeft-- > 0)
        samples.push(await doChange(connection, next(), generations))
    }),
  )
  const costs = meter(samples.length)
  for (const connection of connections) connection.close()
  return {
    ...costs,
    accept: quantiles(samples.map(({ acceptMs }) => acceptMs)),
    converge: quantiles(samples.map(({ convergeMs }) => convergeMs)),
    eventsTogether: generations?.eventsTogether() ?? 0,
  }
}

interface Sample {
  readonly acceptMs: number
  readonly convergeMs: number
}

async function doChange(connection: Connection, change: Change, generations: Generations | undefined): Promise<Sample> {
  const startMs = performance.now()
  const reply = await connection.send(change.text)
  const acceptMs = performance.now() - startMs
  if (reply.status >= 300) throw new Error(`${change.text}\n${reply.status}: ${reply.body.toString()}`)
  if (generations !== undefined) await generations.reached(change.name, generationIn(reply))
  change.release()
  return { acceptMs, convergeMs: performance.now() - startMs }
}

/** The one field of that name, found without reading the rest. */
function generationIn({ body }: Reply): number {
  const field = '"generation":'
  const start = body.indexOf(field) + field.length
  return Number.parseInt(body.toString('latin1', start, start + 12), 10)
}
