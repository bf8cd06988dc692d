import { readIfThere, writeAtomically } from '../../adapters/node/atomic-file.ts'
import { isObject } from '../../model/json.ts'
import { parseJson } from '../../model/parse-json.ts'
import type { Logger } from '../../ports/logger.ts'
import { createUnendedRuns, type UnendedCounts, type UnendedRuns } from './unended-runs.ts'

/** The runs of a process, with a file that keeps in how many of its ends each was under way. */
export interface UnendedRunsFile extends Pick<UnendedRuns, 'follow' | 'takeGivenUp'> {
  /** The process stops since somebody asked for it: its end is no run's doing. */
  stop(): void
}

/**
 * Opens the file, and writes it when this process ends without having been asked to: an exception that nobody catches,
 * `process.exit` in code of the reconcilers. A signal that nobody can catch, or memory that runs out, leaves it as it
 * is. Nothing depends on it: a file that cannot be read or written is told in the log.
 */
export function openUnendedRuns(file: string, logger: Pick<Logger, 'warn' | 'error'>): UnendedRunsFile {
  const known = load(file, logger)
  let written = textOf(known)
  let isSaving = false
  const save = (counts: UnendedCounts): void => {
    const text = textOf(counts)
    if (text === written) return
    try {
      writeAtomically(file, text)
      written = text
    } catch (error) {
      logger.error('runs that the process ended in are not kept', { file, error: String(error) })
    }
  }
  // Of many that end together, one write.
  const saveSoon = (): void => {
    if (isSaving) return
    isSaving = true
    setImmediate(() => {
      isSaving = false
      save(runs.counts())
    })
  }
  const runs = createUnendedRuns(known, saveSoon)
  const onExit = (): void => save(runs.countsAtEnd())
  process.once('exit', onExit)
  return {
    follow: runs.follow,
    takeGivenUp: runs.takeGivenUp,
    stop: () => void process.removeListener('exit', onExit),
  }
}

function textOf(counts: UnendedCounts): string {
  return JSON.stringify(Object.fromEntries(counts))
}

function load(file: string, logger: Pick<Logger, 'warn'>): UnendedCounts {
  try {
    return parse(readIfThere(file) ?? '{}')
  } catch (error) {
    logger.warn('runs that the process ended in are not known', { file, error: String(error) })
    return new Map()
  }
}

/** Throws a SyntaxError. */
function parse(text: string): UnendedCounts {
  const counts = parseJson(text)
  if (!isObject(counts)) throw new SyntaxError('it is no object of counts')
  return new Map(
    Object.entries(counts).map(([name, ends]) => {
      if (!Number.isSafeInteger(ends) || name.split('/').length !== 5)
        throw new SyntaxError(`${JSON.stringify(name)} is no run with a count`)
      return [name, ends as number]
    }),
  )
}
