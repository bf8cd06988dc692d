import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cached, fetchOnce, mustRun } from './cache.ts'
import { freePort, startPeer, type Peer } from './peer.ts'

const version = '1.7.1'
const home = `elasticmq-${version}`

/** ElasticMQ, from Maven Central: SQS on its own. Needs Java and mvn. */
export const elasticmq: Peer = {
  name: 'ElasticMQ',
  version,
  variable: 'SETPOINT_WIRE_ELASTICMQ',
  fetch: () =>
    fetchOnce(home, async (directory) => {
      mkdirSync(directory, { recursive: true })
      writeFileSync(join(directory, 'pom.xml'), pom)
      const goal = ['dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${directory}/lib`]
      await mustRun('mvn', ['-q', '-B', '-f', join(directory, 'pom.xml'), ...goal])
      await mustRun('java', ['-version'])
    }),
  start: async () => {
    const port = await freePort()
    const settings = {
      'node-address.host': '127.0.0.1',
      'node-address.port': port,
      'rest-sqs.bind-hostname': '127.0.0.1',
      'rest-sqs.bind-port': port,
      'rest-sqs.sqs-limits': 'strict',
      'rest-stats.enabled': false,
    }
    const flags = Object.entries(settings).map(([name, value]) => `-D${name}=${value}`)
    const command = ['java', '-Xmx256m', ...flags, '-cp', join(cached(home), 'lib', '*'), 'org.elasticmq.server.Main']
    return startPeer(command, { says: /ElasticMQ server \([\d.]+\) started/, endpoint: `http://127.0.0.1:${port}` })
  },
}

const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>dev.setpoint</groupId>
  <artifactId>wire-elasticmq</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.elasticmq</groupId>
      <artifactId>elasticmq-server_2.13</artifactId>
      <version>${version}</version>
    </dependency>
  </dependencies>
</project>
`
