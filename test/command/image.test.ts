import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { appEntries } from '../../functions/command/image/entries.ts'
import { TarWriter, type TarEntry } from '../../functions/command/image/tar.ts'
import { writeKubeconfig } from '../../shared/adapters/local/https/kubeconfig.ts'
import { applicationId } from '../../shared/adapters/local/sqlite/sqlite-schema.ts'
import { runProgram } from '../support/program.ts'
import { setpointIn } from '../support/setpoint-command.ts'
import { isLong, longOnly } from '../support/strength.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const directory = temporaryDirectory('image')
const app = join(directory.path, 'app')
const { call } = setpointIn(app)
/** The Node of an image weighs 120 MB: the short form has a small program in its place. */
const setpoint = async (...args: readonly string[]) => {
  const { execPath } = process
  if (!isLong) process.execPath = '/bin/true'
  try {
    return await call('image', ...args)
  } finally {
    process.execPath = execPath
  }
}
afterAll(() => directory[Symbol.dispose]())

const longName = `${'long/'.repeat(30)}näme.txt`
const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

describe.skipIf(process.platform !== 'linux')(
  'setpoint image',
  { meta: { skipped: 'an image is written on Linux' } },
  () => {
    const layout = join(directory.path, 'layout')
    const read = (name: string): string => readFileSync(join(layout, name), 'utf8')
    const blob = (digest: string): string => join(layout, 'blobs/sha256', digest.replace('sha256:', ''))
    let first: Awaited<ReturnType<typeof setpoint>>

    beforeAll(async () => {
      const command = join(app, 'node_modules/setpoint/functions/command')
      mkdirSync(join(command, 'long/'.repeat(30)), { recursive: true })
      mkdirSync(join(app, 'node_modules/.bin'))
      mkdirSync(join(app, '.setpoint'))
      writeFileSync(join(app, '.setpoint/token'), 'secret')
      writeFileSync(join(app, 'reconcilers.ts'), '')
      writeFileSync(join(command, longName), 'far away')
      writeFileSync(
        join(command, 'main.js'),
        `const { readFileSync, writeFileSync } = require('node:fs')
writeFileSync('/data/here', '')
console.log(process.argv.slice(2).join(' '), process.getuid(), readFileSync(__dirname + '/${longName}', 'utf8'), process.env.SETPOINT_DATA_DIR)`,
      )
      symlinkSync('../setpoint/functions/command/main.js', join(app, 'node_modules/.bin/setpoint'))
      first = await setpoint('../one.tar')
      mkdirSync(layout)
      await runProgram('tar', ['-xf', join(directory.path, 'one.tar'), '-C', layout])
    })

    it('is an OCI layout whose digests hold', () => {
      expect(first).toMatchObject({ code: 0, stderr: '' })
      const { manifests } = JSON.parse(read('index.json'))
      expect(first.stdout).toContain(manifests[0].digest)
      const manifest = JSON.parse(readFileSync(blob(manifests[0].digest), 'utf8'))
      for (const { digest, size } of [manifests[0], manifest.config, ...manifest.layers]) {
        const bytes = readFileSync(blob(digest))
        expect([`sha256:${digestOf(bytes)}`, bytes.length]).toEqual([digest, size])
      }
      const { config, rootfs } = JSON.parse(readFileSync(blob(manifest.config.digest), 'utf8'))
      expect(rootfs.diff_ids).toEqual(manifest.layers.map(({ digest }: { digest: string }) => digest))
      expect(config).toMatchObject({ User: '65532:65532', Cmd: ['start', '/app'], Volumes: { '/data': {} } })
    })

    it('has links that lead to the same in it, and what is outside in their place', () => {
      const outside = join(directory.path, 'outside')
      mkdirSync(join(outside, 'node_modules'), { recursive: true })
      symlinkSync('../../app/reconcilers.ts', join(outside, 'node_modules/back'))
      const links = {
        absolute: join(app, 'node_modules/setpoint'),
        'node_modules/app': app,
        'node_modules/outside': '../../outside',
        'node_modules/nowhere': '/nowhere/else',
        'node_modules/.#lock': '#reconcilers.ts',
      }
      for (const [name, target] of Object.entries(links)) symlinkSync(target, join(app, name))
      const entries = [...appEntries(app, 'app')]
      const told = Object.fromEntries(
        [...Object.keys(links), 'node_modules/outside/node_modules/back', 'node_modules/.bin/setpoint'].map((name) => {
          const entry = entries.find(({ path }) => path === `app/${name}`)
          return [name, entry?.type === 'link' ? entry.target : entry?.type]
        }),
      )
      expect(told).toEqual({
        absolute: '/app/node_modules/setpoint',
        'node_modules/app': '/app',
        'node_modules/outside': 'directory',
        'node_modules/nowhere': '/nowhere/else',
        'node_modules/.#lock': '#reconcilers.ts',
        'node_modules/outside/node_modules/back': '/app/reconcilers.ts',
        'node_modules/.bin/setpoint': '../setpoint/functions/command/main.js',
      })
      for (const name of Object.keys(links)) rmSync(join(app, name))
    })

    it('has a directory once that a link in it leads up to', () => {
      const outside = join(directory.path, 'library')
      mkdirSync(join(outside, 'examples/app'), { recursive: true })
      writeFileSync(join(outside, 'library.js'), '')
      symlinkSync('../..', join(outside, 'examples/app/library'))
      const link = join(app, 'node_modules/library')
      symlinkSync(outside, link)
      const at = 'app/node_modules/library'
      const entries = [...appEntries(app, 'app')].filter(({ path }) => path.startsWith(at))
      expect(entries.filter(({ path }) => path.endsWith('/library.js'))).toHaveLength(1)
      const back = entries.find(({ path }) => path === `${at}/examples/app/library`)
      expect(back).toMatchObject({ type: 'link', target: `/${at}` })
      rmSync(link)
    })

    it('has no data of a control plane, and nobody’s token, under whatever names', () => {
      mkdirSync(join(app, 'state/here'), { recursive: true })
      for (const name of ['state/here/setpoint.db', 'state/here/token', 'state/note.txt', 'alice.kubeconfig'])
        writeFileSync(join(app, name), 'x')
      const paths = [...appEntries(app, 'app')].map(({ path }) => path)
      expect(paths.filter((path) => /state|kubeconfig/.test(path))).toEqual(['app/state', 'app/state/note.txt'])
      for (const name of ['state', 'alice.kubeconfig']) rmSync(join(app, name), { recursive: true })
    })

    it('has no backup of a control plane, and no copy of its keys', () => {
      mkdirSync(join(app, 'keys'))
      const names = ['keys/secrets.key', 'keys/token', 'secrets.key', 'service-accounts.key', 'authority.pem', 'a.key']
      for (const name of names) writeFileSync(join(app, name), 'x')
      for (const [name, id] of [['first.backup', applicationId] as const, ['places.db', 7] as const]) {
        const database = new DatabaseSync(join(app, name))
        database.exec(`PRAGMA application_id = ${id}; CREATE TABLE a (b);`)
        database.close()
      }
      const paths = [...appEntries(app, 'app')].map(({ path }) => path)
      expect(paths.filter((path) => /keys|\.key|token|\.pem|backup|\.db/.test(path))).toEqual([
        'app/a.key',
        'app/places.db',
      ])
      for (const name of ['keys', ...names.slice(2), 'first.backup', 'places.db'])
        rmSync(join(app, name), { recursive: true })
    })

    it('is the same bytes from the same files, whenever they were written', async () => {
      const file = join(app, 'reconcilers.ts')
      rmSync(file)
      writeFileSync(file, '')
      utimesSync(file, 1, 1)
      await setpoint('../two.tar')
      const [one, two] = ['one.tar', 'two.tar'].map((name) => digestOf(readFileSync(join(directory.path, name))))
      expect(two).toBe(one)
    })

    it.skipIf(!isLong || process.getuid?.() !== 0)(
      'runs from its own files, as its own user, and has no data of this machine',
      { meta: { skipped: isLong ? 'chroot is for root' : longOnly.meta.skipped } },
      async () => {
        const rootfs = join(directory.path, 'rootfs')
        mkdirSync(rootfs)
        const { manifests } = JSON.parse(read('index.json'))
        const manifest = JSON.parse(readFileSync(blob(manifests[0].digest), 'utf8'))
        for (const { digest } of manifest.layers)
          expect(await runProgram('tar', ['-xpf', blob(digest), '-C', rootfs])).toMatchObject({ code: 0 })
        const { config } = JSON.parse(readFileSync(blob(manifest.config.digest), 'utf8'))
        const environment = config.Env.map((one: string) => one)
        const words = ['--userspec=65532:65532', rootfs, ...config.Entrypoint, ...config.Cmd]
        const ended = await runProgram('env', ['-i', ...environment, '/usr/sbin/chroot', ...words])
        expect(ended).toMatchObject({ code: 0, stdout: 'start /app 65532 far away /data\n', stderr: '' })
        const { stdout } = await runProgram('find', [join(rootfs, 'app'), '-name', '.setpoint'])
        expect(stdout).toBe('')
      },
    )

    it.each([
      [[], 'type setpoint image FILE'],
      [['../one.tar'], '../one.tar is there already'],
      [['nowhere/x.tar'], 'cannot write nowhere/x.tar: ENOENT'],
      [['x.tar', '--app', 'node_modules'], 'node_modules has no reconcilers.ts'],
    ])('refuses %j in a line', async (args, message) => {
      // Messages name whole paths.
      const { code, stderr } = await setpoint(...args)
      expect(code).toBe(1)
      expect(stderr).toContain(message)
      expect(stderr.trim().split('\n')).toHaveLength(1)
    })
  },
)

it('archives are read by tar as they were written', async () => {
  const segment = fc.stringMatching(/^[a-zä€_][a-zä€_.-]{0,60}$/).filter((text) => text !== '.' && text !== '..')
  const file = fc.record({
    path: fc.array(segment, { minLength: 1, maxLength: 6 }).map((parts) => parts.join('/')),
    content: fc.uint8Array({ maxLength: 2_000 }),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(file, { maxLength: 5, selector: ({ path }) => path.split('/')[0] }),
      async (files) => {
        using scratch = temporaryDirectory('tar')
        const pieces: Uint8Array[] = []
        const writer = new TarWriter((bytes) => pieces.push(Uint8Array.from(bytes)))
        for (const one of files) writer.add({ ...one, type: 'file', mode: 0o644 } satisfies TarEntry)
        writer.end()
        const archive = join(scratch.path, '.archive')
        writeFileSync(archive, Buffer.concat(pieces))
        const { code, stderr } = await runProgram('tar', ['-xf', archive, '-C', scratch.path])
        expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
        for (const { path, content } of files)
          expect(readFileSync(join(scratch.path, path)).equals(Buffer.from(content))).toBe(true)
      },
    ),
    { numRuns: isLong ? 100 : 5 },
  )
})

it('an image has no copy of a token, a kubeconfig or a private key, under whatever names', () => {
  using own = temporaryDirectory('image-tokens')
  const conf = join(own.path, 'conf')
  mkdirSync(conf)
  const server = { authority: 'PEM', token: 'SECRET' }
  for (const name of ['kubeconfig', 'alice.yaml']) writeKubeconfig(join(conf, name), 'https://127.0.0.1:8443', server)
  const key = '-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----\n'
  for (const [name, text] of [
    ['token', 'SECRET'],
    ['server.pem', key],
    ['tls.txt', `-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n${key.replace('PRIVATE', 'EC PRIVATE')}`],
    ['public.pem', '-----BEGIN PUBLIC KEY-----\nx\n'],
    ['settings.yaml', 'apiVersion: v1\nkind: ConfigMap\n'],
  ] as const)
    writeFileSync(join(conf, name), text)
  const files = [...appEntries(own.path, 'app')].filter(({ type }) => type === 'file')
  expect(files.map(({ path }) => path)).toEqual(['app/conf/public.pem', 'app/conf/settings.yaml'])
})
