import type { BullMq } from './bullmq-api.ts'
import { createGadgetMaker } from './gadget-maker.ts'
import { loadPeer } from './peer.ts'

/** The worker's process: `node bullmq-worker.ts <file of BullMQ> <port of Redis>`. */
const [file = '', port] = process.argv.slice(2)
const { Worker } = loadPeer(file) as BullMq
const made = createGadgetMaker()
/** What runs of each key: BullMQ has no groups without its paid edition. */
const running = new Map<string, Promise<unknown>>()

const worker = new Worker(
  'gadgets',
  ({ data: { key, text } }) => {
    const run = (running.get(key) ?? Promise.resolve()).then(() => made(key, text))
    running.set(key, run)
    return run
  },
  { connection: { host: '127.0.0.1', port: Number(port) }, concurrency: 64 },
)
await worker.waitUntilReady()
process.send?.('ready')
