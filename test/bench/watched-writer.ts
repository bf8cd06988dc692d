import { parentPort, workerData } from 'node:worker_threads'
import { writeEvenly, type Writing } from './watched-changes.ts'

const made = await writeEvenly(workerData as Writing)
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has none
parentPort?.postMessage(made)
