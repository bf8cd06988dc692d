import { lazy } from '../../model/lazy.ts'

/** Where lines go. */
type Output = Pick<NodeJS.WriteStream, 'write' | 'on'>

/**
 * Writes lines of a log. Who hears us no more, as when the terminal was closed, does not end us. A full disk may have
 * left a part of a line: the next one stands by itself.
 */
export function createLogOutput(output: Output): (line: string) => void {
  let isCutShort = false
  output.on('error', () => {
    isCutShort = true
  })
  return (line) => {
    const before = isCutShort ? '\n' : ''
    isCutShort = false
    output.write(`${before}${line}`)
  }
}

const standardError = lazy(() => createLogOutput(process.stderr))

/** The log of the process. */
export function writeLogLine(line: string): void {
  standardError()(line)
}
