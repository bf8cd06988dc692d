/**
 * A provider of OpenID Connect, as its authors ship it, that gives a program a signed token for one audience. Says its
 * URL and a token, and serves until it is stopped.
 *
 *     node oidc-provider.mjs KEY.pem CERTIFICATE.pem AUDIENCE
 */
import { readFileSync } from 'node:fs'
import { createServer, request } from 'node:https'
import Provider from 'oidc-provider'

const [key, cert] = process.argv.slice(2, 4).map((file) => readFileSync(file))
const audience = process.argv[4]
const server = createServer({ key, cert })
await new Promise((resolve) => {
  server.listen(0, '127.0.0.1', resolve)
})
const issuer = `https://127.0.0.1:${server.address().port}`

const provider = new Provider(issuer, {
  clients: [
    {
      client_id: 'robot',
      client_secret: 'robot-secret',
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
    },
  ],
  features: {
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: () => ({ scope: 'api', audience, accessTokenFormat: 'jwt', accessTokenTTL: 600 }),
    },
  },
  extraTokenClaims: () => ({ groups: ['robots'] }),
})
server.on('request', provider.callback())

function askToken() {
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    resource: 'https://setpoint.example.com',
    scope: 'api',
  })
  const headers = {
    authorization: `Basic ${btoa('robot:robot-secret')}`,
    'content-type': 'application/x-www-form-urlencoded',
  }
  return new Promise((resolve, reject) => {
    request(`${issuer}/token`, { method: 'POST', headers, ca: cert, rejectUnauthorized: false }, async (response) => {
      resolve((await response.setEncoding('utf8').toArray()).join(''))
    })
      .on('error', reject)
      .end(body.toString())
  })
}

const { access_token: token } = JSON.parse(await askToken())
console.log(`issuer ${issuer} token ${token} .`)
