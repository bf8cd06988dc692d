import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../support/control-plane-process.ts'
import { runProgram } from '../support/program.ts'
import { cached, fetchOnce, mustRun } from '../wire/cache.ts'
import type { Client } from './client.ts'

const version = '8.0.0'
const source = join(root, 'test/clients/java')
/** Maven's own, which puts the packages of `pom.xml` into a directory. */
const copying = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies'

/** Another source is another program. */
function homeOf(): string {
  const hash = createHash('sha256')
  for (const name of ['pom.xml', 'Clients.java']) hash.update(readFileSync(join(source, name)))
  return `clients-java-${version}-${hash.digest('hex').slice(0, 12)}`
}

async function build(home: string): Promise<void> {
  await fetchOnce(home, async (directory) => {
    mkdirSync(directory, { recursive: true })
    const [pom, libraries, program] = [join(source, 'pom.xml'), join(directory, 'lib'), join(source, 'Clients.java')]
    await mustRun('nice', ['mvn', '-B', '-q', '-f', pom, copying, `-DoutputDirectory=${libraries}`])
    await mustRun('nice', ['javac', '-d', join(directory, 'classes'), '-cp', join(libraries, '*'), program])
  })
}

/** fabric8's client of Java. */
export const java: Client = {
  name: 'java',
  version: `fabric8 kubernetes-client ${version}`,
  fetch: () => build(homeOf()),
  run: (kubeconfig, directory) => {
    const [classes, libraries] = [join(cached(homeOf()), 'classes'), join(cached(homeOf()), 'lib', '*')]
    return runProgram('java', ['-Xmx256m', '-cp', `${classes}:${libraries}`, 'Clients'], {
      cwd: directory,
      env: { KUBECONFIG: kubeconfig },
    })
  },
}
