import type { Readable } from 'node:stream'

/**
 * Calls with each line of what a program says, without its end. Only a line feed ends one: JSON may hold the other
 * marks by which Unicode ends a line, at which node:readline would cut it.
 */
export function readLines(from: Readable | null, read: (line: string) => void): void {
  if (from === null) return
  let rest = ''
  from.setEncoding('utf8')
  from.on('data', (text: string) => {
    const lines = `${rest}${text}`.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) read(line)
  })
  from.on('end', () => {
    if (rest !== '') read(rest)
  })
}
