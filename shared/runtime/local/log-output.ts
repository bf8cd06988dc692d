import { createJsonLogger } from '../../adapters/node/json-logger.ts'
import { systemClock } from '../../adapters/node/system-clock.ts'
import { lazy } from '../../model/lazy.ts'

/** Where lines go. */
type Output = Pick<NodeJS.WriteStream, 'write' | 'on' | 'writableLength'>

/**
 * Writes lines of a log. Who hears us no more, as when the terminal was closed, does not end us. A full disk may have
 * left a part of a line: the next one stands by itself. Lines that nobody takes wait in memory, but not all of them:
 * the rest is left out until half of what waits was taken, and a line says how many.
 */
export function createLogOutput(output: Output, clock = systemClock): (line: string) => void {
  let isCutShort = false
  let leftOut = 0
  output.on('error', () => {
    isCutShort = true
  })
  const write = (line: string): void => {
    const before = isCutShort ? '\n' : ''
    isCutShort = false
    output.write(`${before}${line}`)
  }
  const { warn } = createJsonLogger({ write, clock, level: 'warn' })
  return (line) => {
    const most = leftOut === 0 ? waitingMax : waitingMax / 2
    if (output.writableLength >= most) {
      leftOut++
      return
    }
    if (leftOut > 0) warn('lines were left out of the log: nobody read it', { lines: leftOut })
    leftOut = 0
    write(line)
  }
}

const waitingMax = 8_388_608

const standardError = lazy(() => createLogOutput(process.stderr))

/** The log of the process. */
export function writeLogLine(line: string): void {
  standardError()(line)
}
