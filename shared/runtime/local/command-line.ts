import { parseArgs } from 'node:util'
import type { CertificateFiles } from '../../adapters/local/https/own-certificate.ts'
import { httpServerNames } from '../../adapters/local/https/http-server.ts'
import type { Consent } from '../../adapters/local/sqlite/guard/guarded-database.ts'
import { logLevels } from '../../adapters/node/json-logger.ts'
import { OperatingError } from '../../model/errors.ts'
import { parseRetryBudget, retryBudgetForm } from '../retry-setting.ts'
import { checkDataDirectory } from './check.ts'
import { auditScopes } from '../../ports/audit.ts'
import type { LocalControlPlaneOptions } from './control-plane.ts'
import { signInOf, signInUsage, signInWords } from './sign-in.ts'

/** How the process was called, for what it prints. */
export interface LocalProgram {
  /** As a person types it: `npm start --`. */
  readonly name: string
  /** The words after it. */
  readonly args: readonly string[]
  /** Commands of kubectl that show something, for the text at the start. */
  readonly toTry: readonly string[]
}

/**
 * What the words and the environment say. `--help` and `--check` end the process. Throws BAD_REQUEST for what is not
 * understood.
 */
export function readCommandLine({ name, args }: LocalProgram): Omit<LocalControlPlaneOptions, 'controllers'> {
  const dataDirectory = process.env['SETPOINT_DATA_DIR'] || '.setpoint'
  const options = {
    port: { type: 'string', default: '8443' },
    'data-dir': { type: 'string', default: dataDirectory },
    listen: { type: 'string', default: '127.0.0.1' },
    certificate: { type: 'string' },
    'certificate-key': { type: 'string' },
    authority: { type: 'string' },
    ...signInWords,
    'accept-loss': { type: 'boolean', default: false },
    'as-copy': { type: 'boolean', default: false },
    resume: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
    'rotate-key': { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  } as const
  try {
    const { values } = parseArgs({ options, args: [...args] })
    if (values.help) {
      process.stdout.write(`${usageOf(name)}\n`)
      process.exit(0)
    }
    const directory = dataDirectoryOf(values['data-dir'])
    if (values.check) tellOfCheck(directory)
    return {
      port: portOf(values.port),
      host: values.listen,
      certificate: certificateOf(values),
      signIn: signInOf(values),
      dataDirectory: directory,
      consent: consentOf(values),
      resume: values.resume,
      rotateKey: values['rotate-key'],
      logLevel: oneOf('SETPOINT_LOG', logLevels, 'info'),
      retryBudget: parseRetryBudget(process.env['SETPOINT_RETRY_BUDGET']),
      audit: oneOf('SETPOINT_AUDIT', auditScopes, 'off'),
      httpServer: oneOf('SETPOINT_HTTP', httpServerNames, 'lean'),
      http2: oneOf('SETPOINT_HTTP2', ['on', 'off'], 'on') === 'on',
    }
  } catch (error) {
    if (error instanceof TypeError) throw new OperatingError('BAD_REQUEST', `${error.message}\n${usageOf(name)}`)
    throw error
  }
}

const usageOf = (
  name: string,
): string => `usage: ${name} [--port 8443] [--data-dir .setpoint] [--accept-loss | --as-copy | --resume | --check] [--rotate-key]
  --listen 0.0.0.0 --certificate FILE --certificate-key FILE [--authority FILE]
                 be reached from other machines: PEM of your own, and of who signed it if clients do not know them
${signInUsage}
  --accept-loss  go on with what is there, where a start was refused because something is lost
  --as-copy      this is a copy of a data directory that goes on elsewhere: nothing is reconciled here, until --resume
  --rotate-key   encrypt all Secrets anew, with another key, and forget the one of before
  --check        read everything in the data directory, say what is damaged, and end: with 0 if nothing is
environment: SETPOINT_DATA_DIR (for --data-dir), SETPOINT_LOG (${logLevels.join(', ')}),
  SETPOINT_RETRY_BUDGET (${retryBudgetForm}; 10/100 if left out),
  SETPOINT_HTTP (${httpServerNames.join(', ')}), SETPOINT_HTTP2 (on, off), SETPOINT_AUDIT (${auditScopes.join(', ')}),
  SETPOINT_RUN_TIMEOUTS (on, off)`

function portOf(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw new OperatingError(
    'BAD_REQUEST',
    `--port: ${JSON.stringify(text)} is not a port; give a number from 0 (any free one) to 65535`,
  )
}

function tellOfCheck(directory: string): never {
  const { report, isWhole } = checkDataDirectory(directory)
  process.stdout.write(`${report}\n`)
  process.exit(isWhole ? 0 : 1)
}

interface CertificateWords {
  readonly certificate?: string | undefined
  readonly 'certificate-key'?: string | undefined
  readonly authority?: string | undefined
}

function certificateOf({
  certificate,
  'certificate-key': key,
  authority,
}: CertificateWords): CertificateFiles | undefined {
  if (certificate !== undefined && key !== undefined) return { certificate, key, authority }
  if (certificate === undefined && key === undefined && authority === undefined) return undefined
  throw new OperatingError('BAD_REQUEST', '--certificate FILE and --certificate-key FILE go together')
}

function consentOf(values: { readonly [flag in Consent | 'resume']: boolean }): Consent | undefined {
  const given = (['accept-loss', 'as-copy', 'resume'] as const).filter((flag) => values[flag])
  if (given.length > 1)
    throw new OperatingError('BAD_REQUEST', `${given.map((flag) => `--${flag}`).join(' and ')} say different things`)
  return given.find((flag) => flag !== 'resume')
}

/** Nothing at all would be the working directory: a variable that is empty, most likely. */
function dataDirectoryOf(path: string): string {
  if (path !== '') return path
  throw new OperatingError('BAD_REQUEST', '--data-dir: no directory is named; leave it out for .setpoint')
}

/** What a variable of the environment says, which must be one of these words. */
function oneOf<Word extends string>(variable: string, words: readonly Word[], otherwise: Word): Word {
  const text = process.env[variable] || otherwise
  const word = words.find((one) => one === text)
  if (word !== undefined) return word
  throw new OperatingError(
    'BAD_REQUEST',
    `${variable}: ${JSON.stringify(text)} is not known; give one of ${words.join(', ')}`,
  )
}
