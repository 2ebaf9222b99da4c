// In a worker: one message, one reply, so that the page never waits for a computation.
if (typeof WorkerGlobalScope !== "undefined" && self instanceof WorkerGlobalScope) {
  self.onmessage = ({ data: { number, task, request } }) => {
    try {
      const result = task === "ties" ? answerTies(request) : answer(request);
      self.postMessage({ number, task, result });
    } catch (error) {
      self.postMessage({ number, task, refused: error.message });
    }
  };
}
