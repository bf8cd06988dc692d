import { runLocalProcess } from '../../shared/runtime/local/process.ts'
import { recordingReconciler } from './item.ts'
import { letBeShaken } from './shaken.ts'

/** The program behind `npm start`, with the recording reconciler, and a clock and a disk that can be tampered with. */
await runLocalProcess((dataDirectory) => {
  letBeShaken(dataDirectory)
  return [recordingReconciler(dataDirectory)]
})
