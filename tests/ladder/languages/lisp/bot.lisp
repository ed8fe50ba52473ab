;; Plays the first legal action. It knows where a request has its id and its legal actions.
(defvar *input* (sb-sys:make-fd-stream 0 :input t :element-type '(unsigned-byte 8) :buffering :full))
(defvar *output* (sb-sys:make-fd-stream 1 :output t :element-type '(unsigned-byte 8) :buffering :full))

(defun take (size)
  (let ((data (make-array size :element-type '(unsigned-byte 8))))
    (if (< (read-sequence data *input*) size) (sb-ext:exit :code 0) data)))

(defun size-of (head) (case head (#xcc 2) (#xcd 3) (#xce 5) (t 1)))

(defun text (&rest parts)
  (apply #'concatenate '(vector (unsigned-byte 8))
         (mapcar (lambda (part) (if (stringp part) (map 'vector #'char-code part) part)) parts)))

(defun send (payload)
  (write-sequence (text (list 0 0 0 (length payload)) payload) *output*)
  (finish-output *output*))

(loop
  (let* ((message (take (reduce (lambda (sum byte) (+ (* 256 sum) byte)) (take 4))))
         (kind (map 'string #'code-char (subseq message 7 12))))
    (cond ((string= kind "hello")
           (send (text '(#x83 #xa4) "type" '(#xa5) "hello" '(#xa8) "protocol" '(1 #xa4) "name" '(#xa1) "x")))
          ((string= kind "choos")
           (let* ((size (size-of (aref message 16)))
                  (at (+ 16 size 6)) ; behind the word "legal"
                  (at (+ at (if (= (aref message at) #xdc) 3 1))))
             (send (text '(#x83 #xa4) "type" '(#xa6) "action" '(#xa2) "id" (subseq message 16 (+ 16 size))
                         '(#xa6) "action" (subseq message at (+ at (size-of (aref message at)))))))))))
