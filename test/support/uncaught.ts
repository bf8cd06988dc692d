import { afterEach, beforeEach } from 'vitest'

/** What nobody has caught since the test began: outside of tests, it would have ended the process. */
export function useUncaught(): () => readonly unknown[] {
  let thrown: unknown[] = []
  let listeners: readonly NodeJS.UncaughtExceptionListener[] = []
  beforeEach(() => {
    thrown = []
    listeners = process.listeners('uncaughtException')
    process.removeAllListeners('uncaughtException')
    process.on('uncaughtException', (error) => thrown.push(error))
  })
  afterEach(() => {
    process.removeAllListeners('uncaughtException')
    for (const listener of listeners) process.on('uncaughtException', listener)
  })
  return () => thrown
}
