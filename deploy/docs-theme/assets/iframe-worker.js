// The site's search runs in a web worker. Browsers start no worker for a page that was opened as a file,
// so there a hidden frame runs the same script.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inner = frame.contentWindow;
      this.inner.document.open();
      this.inner.document.write("<body></body>");
      this.inner.document.close();
      this.inner.postMessageHere = this.inner.postMessage.bind(this.inner);
      this.inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const load = (source) =>
        new Promise((loaded, failed) => {
          const script = this.inner.document.createElement("script");
          Object.assign(script, { src: source, onload: loaded, onerror: failed });
          this.inner.document.body.append(script);
        });
      this.inner.importScripts = (...urls) => urls.reduce((before, next) => before.then(() => load(next)), Promise.resolve());
      this.ready = load(url);
    }

    postMessage(data) {
      this.ready.then(() => this.inner.postMessageHere(data, "*"));
    }

    terminate() {
      this.inner.frameElement.remove();
    }
  };
  // With this name in its parent, the script looks for the files of other languages beside itself.
  window.IFrameWorker = window.Worker;
}
