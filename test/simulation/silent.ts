import type { Logger } from '../../shared/ports/logger.ts'

/** Nobody reads it. */
export const silent: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, with: () => silent }
