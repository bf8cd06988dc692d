import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.GenericKubernetesResourceList;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinitionBuilder;
import io.fabric8.kubernetes.api.model.apiextensions.v1.JSONSchemaPropsBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.fabric8.kubernetes.client.dsl.NonNamespaceOperation;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderCallbacks;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderElectionConfigBuilder;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderElector;
import io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.LeaseLock;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/** fabric8's client of Java, as users' own programs use it, with KUBECONFIG in the environment. */
public final class Clients {
  private static final String namespace = "java";
  private static final ResourceDefinitionContext boats = new ResourceDefinitionContext.Builder()
      .withGroup("java.setpoint.dev").withVersion("v1").withKind("Boat").withPlural("boats").withNamespaced(true).build();

  public static void main(String[] args) throws Exception {
    try (KubernetesClient client = connect(null)) {
      define(client);
      writeAndRead(client);
      writeStatus(client);
      elect(client);
      try (Proxy proxy = new Proxy(URI.create(client.getConfiguration().getMasterUrl()));
          KubernetesClient cut = connect(proxy.url())) {
        inform(client, cut, proxy);
        watch(client, cut, proxy);
      }
    } catch (KubernetesClientException error) {
      fail(error.getMessage() + " " + error.getStatus());
    }
    System.exit(0);
  }

  private static KubernetesClient connect(String url) {
    Config config = Config.fromKubeconfig(Path.of(System.getenv("KUBECONFIG")).toFile());
    if (url != null) config.setMasterUrl(url);
    return new KubernetesClientBuilder().withConfig(config).build();
  }

  private static NonNamespaceOperation<GenericKubernetesResource, GenericKubernetesResourceList, Resource<GenericKubernetesResource>> boatsOf(KubernetesClient client) {
    return client.genericKubernetesResources(boats).inNamespace(namespace);
  }

  private static void define(KubernetesClient client) {
    client.namespaces().resource(new NamespaceBuilder().withNewMetadata().withName(namespace).endMetadata().build()).create();
    var anything = new JSONSchemaPropsBuilder().withType("object").withXKubernetesPreserveUnknownFields(true).build();
    var schema = new JSONSchemaPropsBuilder().withType("object").addToProperties("spec", anything).addToProperties("status", anything).build();
    client.apiextensions().v1().customResourceDefinitions().resource(new CustomResourceDefinitionBuilder()
        .withNewMetadata().withName("boats.java.setpoint.dev").endMetadata()
        .withNewSpec().withGroup("java.setpoint.dev").withScope("Namespaced")
        .withNewNames().withKind("Boat").withPlural("boats").endNames()
        .addNewVersion().withName("v1").withServed(true).withStorage(true)
        .withNewSchema().withOpenAPIV3Schema(schema).endSchema()
        .withNewSubresources().withNewStatus().endStatus().endSubresources()
        .endVersion().endSpec().build()).create();
    client.apiextensions().v1().customResourceDefinitions().withName("boats.java.setpoint.dev").waitUntilCondition(
        found -> found != null && found.getStatus() != null && found.getStatus().getConditions().stream()
            .anyMatch(one -> one.getType().equals("Established") && one.getStatus().equals("True")),
        60, TimeUnit.SECONDS);
    said("defines a kind, and waits until it is served");
  }

  private static GenericKubernetesResource boat(String name, int size) {
    var boat = new GenericKubernetesResource();
    boat.setApiVersion("java.setpoint.dev/v1");
    boat.setKind("Boat");
    boat.setMetadata(new ObjectMetaBuilder().withName(name).withNamespace(namespace).addToLabels("fleet", "a").build());
    boat.setAdditionalProperty("spec", Map.of("size", size));
    return boat;
  }

  private static void writeAndRead(KubernetesClient client) {
    var maps = client.configMaps().inNamespace(namespace);
    ConfigMap made = maps.resource(new ConfigMapBuilder().withNewMetadata().withName("a").endMetadata().addToData("x", "1").build()).create();
    maps.withName("a").edit(map -> new ConfigMapBuilder(map).addToData("y", "2").build());
    check("edit", maps.withName("a").get().getData().equals(Map.of("x", "1", "y", "2")));
    maps.resource(new ConfigMapBuilder(maps.withName("a").get()).withData(Map.of("z", "3")).build()).update();
    check("replace", maps.withName("a").get().getData().equals(Map.of("z", "3")));
    try {
      made.setData(Map.of("late", "1"));
      maps.resource(made).lockResourceVersion().update();
      fail("an update of an old version was taken");
    } catch (KubernetesClientException conflict) {
      check("conflict", conflict.getCode() == 409);
    }
    maps.resource(new ConfigMapBuilder().withNewMetadata().withName("b").endMetadata().addToData("x", "1").build()).serverSideApply();
    check("list", maps.list().getItems().size() == 2);
    maps.withName("a").delete();
    maps.withName("b").delete();
    check("delete", maps.withName("a").get() == null);
    said("creates, edits, replaces, applies, lists and deletes; an old version is refused");
  }

  private static void writeStatus(KubernetesClient client) {
    var one = boatsOf(client).resource(boat("status", 1)).create();
    one.setAdditionalProperty("status", Map.of("phase", "afloat"));
    boatsOf(client).resource(one).updateStatus();
    one = boatsOf(client).withName("status").get();
    check("status", Map.of("phase", "afloat").equals(one.getAdditionalProperties().get("status")));
    check("generation", one.getMetadata().getGeneration() == 1);
    boatsOf(client).withName("status").delete();
    said("writes a status by its own path");
  }

  private static void elect(KubernetesClient client) throws Exception {
    var leaders = new LinkedBlockingQueue<String>();
    var threads = Executors.newCachedThreadPool();
    CompletableFuture<?> first = elector(client, "one", leaders, threads).start();
    check("a leader", "one".equals(leaders.poll(60, TimeUnit.SECONDS)));
    CompletableFuture<?> second = elector(client, "other", leaders, threads).start();
    first.cancel(true);
    check("another leader", "other".equals(leaders.poll(60, TimeUnit.SECONDS)));
    second.cancel(true);
    said("elects another leader when the first renews its lease no more");
  }

  private static LeaderElector elector(KubernetesClient client, String id, LinkedBlockingQueue<String> leaders, java.util.concurrent.Executor threads) {
    return client.leaderElector().withConfig(new LeaderElectionConfigBuilder().withName("boats")
        .withLeaseDuration(Duration.ofSeconds(6)).withRenewDeadline(Duration.ofSeconds(4)).withRetryPeriod(Duration.ofSeconds(1))
        .withLock(new LeaseLock(namespace, "boats", id)).withReleaseOnCancel(false)
        .withLeaderCallbacks(new LeaderCallbacks(() -> leaders.add(id), () -> { }, leader -> { })).build()).build();
  }

  /** Changes that an informer follows while its connections are cut again and again. */
  private static void inform(KubernetesClient client, KubernetesClient cut, Proxy proxy) {
    var told = new AtomicInteger();
    ResourceEventHandler<GenericKubernetesResource> count = new ResourceEventHandler<>() {
      @Override public void onAdd(GenericKubernetesResource one) { told.incrementAndGet(); }
      @Override public void onUpdate(GenericKubernetesResource old, GenericKubernetesResource one) { told.incrementAndGet(); }
      @Override public void onDelete(GenericKubernetesResource one, boolean unknown) { told.incrementAndGet(); }
    };
    try (SharedIndexInformer<GenericKubernetesResource> informer = cut.genericKubernetesResources(boats).inNamespace(namespace).inform(count)) {
      for (int i = 0; i < 60; i++) {
        String name = "boat-" + i % 20;
        var now = boatsOf(client).withName(name).get();
        if (now == null) boatsOf(client).resource(boat(name, i)).create();
        else if (i % 7 == 0) boatsOf(client).withName(name).delete();
        else boatsOf(client).withName(name).edit(one -> { one.setAdditionalProperty("spec", Map.of("size", 100 + one.getMetadata().getGeneration())); return one; });
        if (i % 6 == 0) proxy.cut();
      }
      eventually("the informer has what there is", () -> stateOf(informer.getStore().list()).equals(stateOf(boatsOf(client).list().getItems())));
      check("the informer was told", told.get() > 20);
    }
    said("an informer has what there is after 60 changes and " + proxy.cuts() + " cuts");
  }

  private static Map<String, String> stateOf(java.util.List<GenericKubernetesResource> items) {
    var state = new TreeMap<String, String>();
    items.forEach(one -> state.put(one.getMetadata().getName(), one.getMetadata().getResourceVersion()));
    return state;
  }

  private static void watch(KubernetesClient client, KubernetesClient cut, Proxy proxy) {
    Set<String> seen = ConcurrentHashMap.newKeySet();
    var closed = new AtomicInteger();
    var watcher = new Watcher<GenericKubernetesResource>() {
      @Override public void eventReceived(Action action, GenericKubernetesResource one) { seen.add(action + " " + one.getMetadata().getName()); }
      @Override public void onClose(WatcherException cause) { closed.incrementAndGet(); }
    };
    try (var watch = cut.genericKubernetesResources(boats).inNamespace(namespace).watch(watcher)) {
      boatsOf(client).resource(boat("first", 1)).create();
      eventually("the watch tells of the first", () -> seen.contains("ADDED first"));
      for (int i = 0; i < 3; i++) {
        proxy.cut();
        String name = "cut-" + i;
        boatsOf(client).resource(boat(name, 1)).create();
        eventually("the watch goes on after a cut", () -> seen.contains("ADDED " + name));
      }
      boatsOf(client).withName("first").delete();
      eventually("the watch tells of a deletion", () -> seen.contains("DELETED first"));
      check("the watch was not given up", closed.get() == 0);
    }
    check("watches are websockets, and none is asked for again without", isEveryWatchAWebsocket(client.raw("/metrics")));
    said("a watch goes on from where it was cut, by websocket");
  }

  private static boolean isEveryWatchAWebsocket(String metrics) {
    var codes = metrics.lines().filter((line) -> line.startsWith("apiserver_request_total{"))
        .filter((line) -> line.contains("resource=\"boats\"") && line.contains("verb=\"WATCH\"")).toList();
    return !codes.isEmpty() && codes.stream().allMatch((line) -> line.contains("code=\"101\""));
  }

  private static void eventually(String what, Supplier<Boolean> holds) {
    long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(2);
    while (System.nanoTime() < end) {
      if (holds.get()) return;
      try {
        Thread.sleep(200);
      } catch (InterruptedException error) {
        throw new IllegalStateException(error);
      }
    }
    fail(what);
  }

  private static void check(String what, boolean holds) {
    if (!holds) fail(what);
  }

  private static void said(String what) {
    System.out.println("ok: " + what);
  }

  private static void fail(String what) {
    System.out.println("failed: " + what);
    System.exit(1);
  }

  /** Passes bytes on, and ends all its connections when it is told to. */
  private static final class Proxy implements AutoCloseable {
    private final ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private final AtomicInteger cuts = new AtomicInteger();

    Proxy(URI to) throws IOException {
      thread(() -> {
        while (true) {
          Socket client = server.accept();
          Socket upstream = new Socket(to.getHost(), to.getPort());
          open.add(client);
          open.add(upstream);
          thread(() -> pass(client, upstream));
          thread(() -> pass(upstream, client));
        }
      });
    }

    String url() {
      return "https://127.0.0.1:" + server.getLocalPort();
    }

    int cuts() {
      return cuts.get();
    }

    void cut() {
      cuts.incrementAndGet();
      open.forEach(Proxy::end);
      open.clear();
    }

    private static void end(Socket socket) {
      try {
        socket.close();
      } catch (IOException error) {
        fail("a socket cannot be closed: " + error);
      }
    }

    private void pass(Socket from, Socket to) throws IOException {
      try (InputStream in = from.getInputStream(); OutputStream out = to.getOutputStream()) {
        in.transferTo(out);
      } finally {
        open.remove(from);
      }
    }

    private interface Work {
      void run() throws IOException;
    }

    private static void thread(Work work) {
      Thread thread = new Thread(() -> {
        try {
          work.run();
        } catch (IOException error) {
          // A connection ended, as it may.
        }
      });
      thread.setDaemon(true);
      thread.start();
    }

    @Override public void close() throws IOException {
      server.close();
      cut();
    }
  }
}
