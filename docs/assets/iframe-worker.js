/* Run a worker's script in a hidden frame on pages that are opened from a file.
 *
 * Browsers start no workers there, and the search of the site needs one. The name IFrameWorker is
 * the one that the search looks for in its parent.
 */
(function () {
  if (location.protocol !== "file:") return;

  class IFrameWorker extends EventTarget {
    constructor(url) {
      super();
      this.onmessage = null;
      this.pending = [];
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      const inner = frame.contentWindow;
      inner.postMessage = (data) => {
        const event = new MessageEvent("message", { data });
        this.dispatchEvent(event);
        if (this.onmessage) this.onmessage(event);
      };
      const script = inner.document.createElement("script");
      script.src = new URL(url, document.baseURI).href;
      script.onload = () => {
        this.inner = inner;
        this.pending.splice(0).forEach((data) => this.postMessage(data));
      };
      inner.document.body.appendChild(script);
    }

    postMessage(data) {
      if (!this.inner) this.pending.push(data);
      else this.inner.dispatchEvent(new this.inner.MessageEvent("message", { data }));
    }

    terminate() {}
  }

  window.IFrameWorker = IFrameWorker;
  window.Worker = IFrameWorker;
})();
