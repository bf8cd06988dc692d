import { runLocalProcess } from '../../shared/runtime/local-process.ts'
import { recordingReconciler } from './item.ts'

/** The program behind `npm start`, with the recording reconciler. */
await runLocalProcess((dataDirectory) => [recordingReconciler(dataDirectory)])
