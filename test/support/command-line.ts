import { parseArgs, type ParseArgsConfig } from 'node:util'

/** What the command line of a program of ours says. What a person can mend there is one line on stderr, and exit code 1. */
export function optionsOf<const T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config)
  } catch (error) {
    const names = Object.keys(config.options ?? {}).map((name) => `--${name}`)
    return refuse(`${(error as Error).message}\noptions: ${names.join(', ')}`)
  }
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
