import { openSqliteRunHistory, type SqliteRunHistory } from '../../adapters/local/history/sqlite-run-history.ts'
import { createJsonLogger, type LogLevel, type LogSwitch } from '../../adapters/node/json-logger.ts'
import { openRotatingFile } from '../../adapters/node/rotating-file.ts'
import { systemClock } from '../../adapters/node/system-clock.ts'
import { isAudited, type Audit, type AuditedRequest, type AuditScope } from '../../ports/audit.ts'
import type { Logger } from '../../ports/logger.ts'
import type { DataFiles } from './files.ts'
import { writeLogLine } from './log-output.ts'

export type { ServedLine, ServedRun } from '../../api/verbs/runs.ts'

/** What a process on one machine writes down for people: its log, the runs, and the requests if they are wanted. */
export interface Records {
  readonly logger: Logger
  /** Of the log. */
  readonly level: LogSwitch
  /** Left out where its file cannot be opened. */
  readonly history?: SqliteRunHistory
  readonly told: { readonly audit?: Audit }
  close(): void
}

export interface RecordsOptions extends Pick<DataFiles, 'auditFile' | 'runsFile'> {
  readonly logLevel: LogLevel
  readonly audit: AuditScope | Audit['isRecorded']
}

export function openRecords({ logLevel, audit, auditFile, runsFile }: RecordsOptions): Records {
  const level: LogSwitch = { level: logLevel }
  const logger = createJsonLogger({ write: writeLogLine, clock: systemClock, level })
  const history = openHistory(runsFile, logger)
  const record = openAuditLog(audit, auditFile, logger)
  const close = (): void => {
    record.close()
    history?.close()
  }
  return { logger, level, ...(history && { history }), told: record.told, close }
}

/** What is recorded takes at most 300 MiB, for its owner's eyes only. */
function openAuditLog(
  audit: RecordsOptions['audit'],
  file: string,
  logger: Logger,
): { readonly told: { readonly audit?: Audit }; close(): void } {
  if (audit === 'off') return { told: {}, close() {} }
  const report = (error: unknown): void => logger.error('requests are not recorded', { file, error: String(error) })
  const { append, close } = openRotatingFile({ file, bytesMax: 50 * 1024 * 1024, kept: 5, report })
  const isRecorded = typeof audit === 'string' ? (request: AuditedRequest) => isAudited(audit, request) : audit
  return { told: { audit: { isRecorded, record: append } }, close }
}

/** Undefined, and told in the log, where the disk is full: nothing depends on it. */
function openHistory(file: string, logger: Logger): SqliteRunHistory | undefined {
  const report = (error: unknown): void => logger.error('runs are not kept', { file, error: String(error) })
  try {
    return openSqliteRunHistory({ file, report })
  } catch (error) {
    report(error)
    return undefined
  }
}
