import { parseArgs, type ParseArgsConfig } from 'node:util'

/**
 * What the command line of a program of ours says. `--help` prints the usage and ends it with 0; what a person can mend
 * there is told with the usage, and exit code 1.
 */
export function optionsOf<const T extends ParseArgsConfig>(
  program: string,
  config: T,
): ReturnType<typeof parseArgs<T>> {
  const usage = usageOf(program, config)
  const asksForHelp = process.argv.slice(2).some((arg) => arg === '--help' || arg === '-h')
  if (asksForHelp) {
    console.log(usage)
    process.exit(0)
  }
  try {
    return parseArgs(config)
  } catch (error) {
    // Node goes on about positional arguments that begin with a dash.
    const [what = ''] = (error as Error).message.split('. To specify')
    return refuse(`${what}\n${usage}`)
  }
}

function usageOf(program: string, { options = {} }: ParseArgsConfig): string {
  const words = Object.entries(options).map(([name, { type, default: value }]) =>
    type === 'boolean' ? `[--${name}]` : `[--${name} ${value === undefined || value === '' ? '…' : String(value)}]`,
  )
  return ['usage:', program, ...words].join(' ')
}

/** A whole number of at least so much. What is none would run nothing, and look as if all were well. */
export function wholeNumber(what: string, text: string, least = 0): number {
  const isGood = /^\d+$/.test(text) && Number(text) >= least
  return isGood ? Number(text) : refuse(`${what}: "${text}" is no whole number from ${least} on`)
}

/** Ends the program. */
export function refuse(message: string): never {
  console.error(message)
  process.exit(1)
}
